"""The plot of growth: a readable picture with every series and both axes in it."""

import re
from xml.etree import ElementTree

from evals.scale import Series, draw_plot


def test_a_plot_has_every_series_and_grows_upwards():
    picture = draw_plot(
        [Series("turn <first>", [(10, 2.0), (1_000, 20.0)]), Series("search", [(10, 5.0)])], "messages", "ms"
    )
    root = ElementTree.fromstring(picture)
    texts = [element.text for element in root.iter() if element.text and element.text.strip()]
    assert {"turn <first>", "search", "messages", "ms", "1,000"} <= set(texts)
    line = re.search(r'points="([\d., ]+)"', picture)
    assert line is not None
    (left, lower), (right, upper) = (map(float, point.split(",")) for point in line[1].split())
    assert right > left
    assert upper < lower
