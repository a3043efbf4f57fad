/**
 * What a terminal shows after it was sent `text`: its rows, without trailing spaces and empty rows at the end. Knows
 * what the chat and readline send: CR, LF, erasing, moving in a row, one row up, and colours, which it leaves out.
 *
 * @throws Error at any other control sequence
 */
export function showOnTerminal(text: string, columns: number): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const current = (): string[] => {
    rows[row] ??= [];
    return rows[row] ?? [];
  };
  for (const [token, parameter = "", final] of text.matchAll(tokens)) {
    if (token === "\r") column = 0;
    else if (token === "\n") row += 1;
    else if (final === "K") current().length = Math.min(current().length, column);
    else if (final === "J" && parameter !== "2") {
      current().length = Math.min(current().length, column);
      rows.length = row + 1;
    } else if (final === "A") row -= Number(parameter || 1);
    else if (final === "G") column = Number(parameter || 1) - 1;
    else if (final === "m") continue;
    else if (token.startsWith("\u001b") || token < " ") throw new Error(`unknown: ${JSON.stringify(token)}`);
    else {
      if (column >= columns) [row, column] = [row + 1, 0];
      const cells = current();
      while (cells.length < column) cells.push(" ");
      cells[column] = token;
      column += 1;
    }
  }
  const shown = Array.from(rows, (cells = []) => cells.join("").trimEnd());
  while (shown.at(-1) === "") shown.pop();
  return shown;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
const tokens = /\u001b\[([0-9;?]*)([A-Za-z])|\u001b|[\s\S]/gu;
