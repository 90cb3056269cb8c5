// The words in which two texts differ: what was said and what the model sees of it.

// Above so many pairs of words whole lines are compared instead, and above it again the texts as they are.
const mostPairs = 4_000_000;

/**
 * Compares two texts word by word. Each part is in both, or in one of them alone.
 * @param {string} said
 * @param {string} seen
 * @returns {{ text: string, in: "both" | "said" | "seen" }[]}
 */
export function compareWords(said, seen) {
  for (const split of [splitWords, splitLines]) {
    const first = split(said), second = split(seen);
    let start = 0, end = 0;
    const least = Math.min(first.length, second.length);
    while (start < least && first[start] === second[start]) start++;
    while (end < least - start && first.at(-1 - end) === second.at(-1 - end)) end++;
    const middle = [first.slice(start, first.length - end), second.slice(start, second.length - end)];
    if (middle[0].length * middle[1].length > mostPairs) continue;
    return joinParts([
      ...first.slice(0, start).map((text) => ({ text, in: "both" })),
      ...align(middle[0], middle[1]),
      ...first.slice(first.length - end).map((text) => ({ text, in: "both" })),
    ]);
  }
  return [{ text: said, in: "said" }, { text: seen, in: "seen" }];
}

const splitWords = (text) => text.match(/\s+|[^\s]+/g) ?? [];
const splitLines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The longest common sequence, by the table that everybody uses. */
function align(first, second) {
  const width = second.length + 1;
  const common = new Uint16Array((first.length + 1) * width);
  for (let row = first.length - 1; row >= 0; row--) {
    for (let column = second.length - 1; column >= 0; column--) {
      common[row * width + column] = first[row] === second[column]
        ? common[(row + 1) * width + column + 1] + 1
        : Math.max(common[(row + 1) * width + column], common[row * width + column + 1]);
    }
  }
  const parts = [];
  let row = 0, column = 0;
  while (row < first.length || column < second.length) {
    if (row < first.length && column < second.length && first[row] === second[column]) {
      parts.push({ text: first[row], in: "both" });
      row++;
      column++;
    } else if (
      column >= second.length ||
      (row < first.length && common[(row + 1) * width + column] >= common[row * width + column + 1])
    ) parts.push({ text: first[row++], in: "said" });
    else parts.push({ text: second[column++], in: "seen" });
  }
  return parts;
}

function joinParts(parts) {
  const joined = [];
  for (const part of parts) {
    if (joined.at(-1)?.in === part.in) joined.at(-1).text += part.text;
    else joined.push({ ...part });
  }
  return joined;
}
