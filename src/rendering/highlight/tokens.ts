/** Code in pieces that have a colour each. */

export const TOKEN_KINDS = [
  'keyword',
  'string',
  'number',
  'comment',
  'title',
  'type',
  'attribute',
  'meta',
  'added',
  'removed',
] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

export interface Token {
  text: string
  /** Missing for plain text. */
  kind?: TokenKind
}

export function joinTokens(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('')
}

/** Pure. The name of the class in style/highlight.css. */
export function tokenClass(kind: TokenKind): string {
  return `hl-${kind}`
}

/** Pure. The tokens of each line, without the line feeds. */
export function tokenLines(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]]
  for (const token of tokens) {
    token.text.split('\n').forEach((text, index) => {
      if (index > 0) lines.push([])
      if (text !== '') lines.at(-1)!.push({ ...token, text })
    })
  }
  return lines
}
