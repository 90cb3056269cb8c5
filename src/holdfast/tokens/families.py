"""What a byte of text costs in the vocabulary of each model family, and which names belong to which family.

The numbers were fitted offline: the published tokenizers of each family counted pieces of 2,000 characters
(German law and technical prose, English essays and chats, Python, JavaScript and C, JSON, logs, base64,
emoji, program messages in twenty-two languages), and a regression on the relative error gave the prices,
rounded to whole units. Half of the texts were fitted; the other half, and texts of other origin, confirmed
it. `evals.tokens_estimate` measures it anew.
"""

import base64
import re
from dataclasses import dataclass

# Prices are in sixteenths of a token, with one token added: some letters make text cheaper than it looks,
# since they occur in well-known words.
UNIT = 16
OFFSET = 16


@dataclass(frozen=True, slots=True)
class Family:
    """What `estimate` needs: a price for each byte, and corrections.

    `piece` is the most bytes whose prices are sure to add up to less than 65,521. `over` and `under` are how
    far the true number may lie above and below the estimate, as a share of it.
    """

    name: str
    prices: bytes
    piece: int
    blanks: float
    mixed: float
    digits: float
    over: float
    under: float


def _family(
    name: str,
    *,
    prices: str,
    blanks: float,
    mixed: float,
    digits: float,
    over: float,
    under: float,
) -> Family:
    priced = base64.b85decode(prices)
    return Family(name, priced, 65_520 // max(priced), blanks, mixed, digits, over, under)


FAMILIES = {
    "llama3": _family(
        "llama3",
        blanks=-1.817,
        mixed=1.318,
        digits=-1.691,
        over=0.29,
        under=0.21,
        prices=(
            "5fKp)5fKp)5f~j25fBj(5fKp)5fKp)5fKp)5fKp)6c!m578@8D92^fB8X6H49U>khAt50nA|e<W7!?{A7!w#17ZMj2"
            "7ZVp37Z(#27Z(>45f>L27Z(^76B!s18W9%|7ZVp077!K~784Z^6BQB?5)>907ZMm37a15478w~F92^)M85|cF85|ZE"
            "92guL85tWL8yXoH92plG7#SBB8W<cF8W<WJ8yglH92guM7Z)2D85kHB9UK@MF)=YP2@DDf3JMAe3JMJk3=9km85tQF"
            "3=azm4Gj$q1^^cb2nGoU2MG!Y2na7O8X6iJ8X6iJ8X6iJ8X6iJ"
        ),
    ),
    "llama4": _family(
        "llama4",
        blanks=-2.180,
        mixed=1.209,
        digits=-1.549,
        over=0.30,
        under=0.21,
        prices=(
            "5fKp)5fKp)5g8c~5fBj(5fKp)5fKp)5fKp)5fKp)6&M&67#$fG92^lD7a9>49wHqgAs`_mAtD(Y85J5B7!wv06cQL0"
            "6%!X16c`m36&Dl}5*8O27Z(^A6d4#58WR@|6%iN`6c82`7Zel{6crK^5)%~}7ZMm67#SE578n>C85<WE8XOiE7#kH9"
            "8WtND7#12F85$TD8yOZC7#bEB7a1EB85<iK8X6QC8yFiI78Vy77Zw*78XOrK85tTF7Z(^97#J8B7#Ix>3k(bl5D*X$"
            "4G#?q4Gj$q3IG)d2L=fS2L}oW2nRDU78Vv378Vv378Vv378Vv3"
        ),
    ),
    "gpt-oss": _family(
        "gpt-oss",
        blanks=-1.663,
        mixed=1.179,
        digits=-1.553,
        over=0.27,
        under=0.22,
        prices=(
            "5fKp)5fKp)5f~W}5fBj(5fKp)5fKp)5fKp)5fKp)6c-p57#$fG92^iD85$B89U>hfBOoCmA|V<Z85SBC7!w#26%rR0"
            "6cZO078ny37Z(&15*HU37Z(^A6B-y58xt516cQH`6c82{78Dc`6c!Q_5)&607ZMm47#bK67a15F85<cJ8yprG7#tQD"
            "8yFfI78n{G92prH92giE8yXlH7Z@BC7#bTJ8yXcF8yFlL7Zw>C7a15B8yp!K8X6cF9UmVbA0HndA0G`33k(bl4h{|u"
            "4Gatn3=9km2>=ud2L%ZR2L}oW2?jhn5D*X$5D*X$5D*X$5D*X$"
        ),
    ),
    "qwen": _family(
        "qwen",
        blanks=-1.794,
        mixed=1.151,
        digits=-1.534,
        over=0.30,
        under=0.28,
        prices=(
            "5fKp)5fKp)5g8p35fBj(5fKp)5fKp)5fKp)5fKp)6c`v46&n~98ygN785j{1CMzZ@D=I21Dl8Zo7!(;77ZVo}6cQE|"
            "7ZMg06&4f}78Vv15f&B~7Zw*76d4#37!eo{784Z}6%iH}78Df_6crN^5)>C27!ep37a12378n*87#S8B7#kE77aJ56"
            "8Wk587#0{C7a1298Wt5685tE98W$QA7#1297Z?*78WtKB6%-d56BQK}8XFiGFE1}HB_<^$B_$;#B_$Xd4i63v4-XFy"
            "5f2d&5fKp)4*(7g3I_}c2?`Gm4h$+O3kwSi3kwSi3kwSi3kwSi"
        ),
    ),
    "qwen35": _family(
        "qwen35",
        blanks=-2.117,
        mixed=1.216,
        digits=-1.546,
        over=0.24,
        under=0.29,
        prices=(
            "5fKp)5fKp)5gH~D5fBj(5fKp)5fKp)5fKp)5fKp)6&4v4791HG92^lD8yOKAB`GE<DJm)}D=Qfp859*57!el}6A~5|"
            "78Vv36BiW|6c!W|5f&B~78Vy56B-&68x$806A>2^6%Q2_784W`6BH2=5)%~|77`a37#SE57a12C8XFfI85|WB7#tNA"
            "8WtNF7#SKI85kHB8yFTB8XFfE85$cE7#SNH8W<HB85bKD78V#978Vy58ypuI92^`P8yp-Q92^`R92^b}3=9km5D*X$"
            "4Gazr4Gj$q1ppui1_cNP1_ufU2nZ!39v&VZ9v&VZ9v&VZ9v&VZ"
        ),
    ),
    "tekken": _family(
        "tekken",
        blanks=-1.619,
        mixed=1.142,
        digits=-1.524,
        over=0.25,
        under=0.33,
        prices=(
            "5fKp)5fKp)5g8g05fBj(5fKp)5fKp)5fKp)5fKp)6d4#67#tZH92*fC8X6Q9Dkvr^D<~-|Dk~Zq8WtKE859^56%-j6"
            "7Zw;86c`m06&M&46Brp87#JBD6dD;891|A~6%rQ`6%Z8{78Vl|6ciE?6B88~77-U385$T77aAEH8yp%O8XXuI866lK"
            "92guL92^`S8ypxJ8X6cG92^=O8X6oJ9T^-O85$TF92y-P85kNI8W|WE9UU1Q9UUDV9UvbcA0HndA0G@23kwSi4Gj$q"
            "3kwVl3kwSi1^^WX2?`7e3JeGa1_lldHa0dkHa0dkHa0dkHa0dk"
        ),
    ),
    "gemma": _family(
        "gemma",
        blanks=-1.464,
        mixed=0.911,
        digits=-1.257,
        over=0.25,
        under=0.24,
        prices=(
            "5fKp)5fKp)5gH^B5fBj(5fKp)5fKp)5fKp)5fKp)6dD*88Xg-M9v%=I932!LB_<>(DJdx`Dk>Qp8yFlK8WR>46cZR2"
            "6c-m46&Mv46c-m06c`v77#A5F6C4{G8WR={6cHH|6%Q2`78DZ`6crH@6ciR177-U48XFoB6&Mv57#J2678w*478w*3"
            "7#0~778Dj485kB77Zwy17!?#36&4v378n;97Z(&37#0~A6&4j278Ms27a0~89UUDT9UmSZ9v&VZ9v%=64Gs<t5)u*;"
            "4-gOy4-XFy2>}`k4GRqn3=9tp4Gt?Q2?+@a2?+@a2?+@a2?+@a"
        ),
    ),
    "deepseek": _family(
        "deepseek",
        blanks=-1.250,
        mixed=1.037,
        digits=-1.402,
        over=0.29,
        under=0.31,
        prices=(
            "5fKp)5fKp)5f~d05fBj(5fKp)5fKp)5fKp)5fKp)6Brm4866oL9UTuE85<H79w8hdA|N0lAs`zY8WtKE85J587!?>9"
            "859{A85$KC7#SB86d4&A85tQF6dM^B8xj`~6%!Z}6%ZB}78Dc_6c!T`6BHF17Z4d57aAE678w^D8XFfI8XOiD7aSEB"
            "8y6ZF7#bQK85tNC92gfE8yglH8XFuI7#JEG8yOWE92p!K78n^D78Vy68XOrKEiEi9DJLi>C@3f>C@2sP3=Itp5D*X$"
            "4i66v4h{|u2LKZa1_THN1_uoa3k)P86ciK`6ciK`6ciK`6ciK`"
        ),
    ),
    "smollm": _family(
        "smollm",
        blanks=-0.549,
        mixed=0.961,
        digits=-1.358,
        over=0.42,
        under=0.25,
        prices=(
            "5D*X$5D*X$5Evs65D*X$5D*X$5D*X$5D*X$5D*X$5gQsB8yy@P9v&1N8yXfJCnzQ=Dk&)|DJdBp92y-Q8y6cF8x|TI"
            "8y6ZH7#bEA7aAKH6&V^E8X6lM8yp-Q9uOE085I{47!ej26BHH@6c!Q^6BQE~77-X68XX%DAR!<jBO@atA|xOnBqAUn"
            "AR;0oBOoFqBOo9mAt50mAs`?lA0Z(lAR!|oBO)LpBP1jvBOoLrBqJaoBp@IlW@cq&5)Tg%5fKp)5fKgz3=Rwo6B82@"
            "5f2d(5fKp)1_2oh2nYxV2niY)85$NA1_lNO1_lNO1_lNO1_lNO"
        ),
    ),
    "llama2": _family(
        "llama2",
        blanks=-0.874,
        mixed=1.194,
        digits=-1.622,
        over=0.35,
        under=0.30,
        prices=(
            "5D*X$5D*X$5FaTJ5D*X$5D*X$5D*X$5D*X$5D*X$6B-#98XX%N9UT-K8yplEC?+N=D=R81D=Qit8yOoK926QA85I~A"
            "85I~96&V#385kKB6B!s87#JBG6&o5G91|B07ZVi|6%rK~7Znr{6%`W_6BQI077-U38XOuB9v>bZ9v~nf9UvSXARinY"
            "A0Hqe9UUMcA08eZARZka93C7XARQna933DaARincARr$gA08bb9ULAWARrzcGcz+XEGjB0Dk>@}Dk>Bb2nh)Z6%`c~"
            "6B82@6B82?1qc=e1Oo#D0|E*O3J4+~5fKp)5fKp)5fKp)5fKp)"
        ),
    ),
    "unknown": _family(
        "unknown",
        blanks=-1.778,
        mixed=1.158,
        digits=-1.585,
        over=0.60,
        under=0.50,
        prices=(
            "5fKp)5fKp)5g8#75fBj(5fKp)5fKp)5fKp)5fKp)6d4&7866oJ9UTxF8ygZ9BPAjxCnhE+C?*&h8WtHD850*27!(&5"
            "7#0^778ev27#J565*HU37Z(^86dM^991|B06%rQ|6%iH}784W^6crK@5)>9077`a27#kT885tNH8XOuN8XXrG7#tTE"
            "92guL7#SNK8XOrJ92glG7#tTE8X6oI85kTJ8yglH92pxM7Z(~E7#bHB932=NCMG2&9UvbcA0HndA0H173=9km5fKp)"
            "4h|0x4h{|u2LKoe2L=fT2MP=d3kfPH6ciK`6ciK`6ciK`6ciK`"
        ),
    ),
}

UNKNOWN = FAMILIES["unknown"]

# The first that is found in a name counts. Who trains on another's model keeps its vocabulary, so bases that
# others build on ("deepseek-r1-distill-llama-70b") come before the names of those who do.
_NAMES = tuple(
    (re.compile(pattern, re.IGNORECASE), FAMILIES[family])
    for pattern, family in (
        (r"gpt-?oss|gpt-?4o|gpt-?4\.1|gpt-?5|o200k", "gpt-oss"),
        (r"llama-?4", "llama4"),
        (r"llama-?3", "llama3"),
        (r"code-?llama|tiny-?llama|llama-?2|vicuna|phi-?3|mixtral|zephyr", "llama2"),
        (r"qwen-?3[._-]?[5-9]", "qwen35"),
        (r"qwen|qwq|qvq", "qwen"),
        (r"deepseek", "deepseek"),
        (r"mistral-?(nemo|small|medium|large)|ministral|magistral|devstral|pixtral|nemo|tekken", "tekken"),
        (r"mistral", "llama2"),
        (r"gemma", "gemma"),
        (r"smol-?(lm|vlm)|gpt-?2|starcoder|granite", "smollm"),
        (r"gpt-?(3\.5|4)|cl100k|phi-?4|phi4", "llama3"),
    )
)


def family_of(*names: str) -> Family:
    """The family of a model by its name, architecture, or whatever is known of it, the surest first."""
    for name in names:
        for pattern, family in _NAMES:
            if pattern.search(name):
                return family
    return UNKNOWN
