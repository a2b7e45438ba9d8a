import { visibleText } from '../hidden-characters.ts'
import { highlightEach, highlightLines } from '../highlight/highlight.ts'
import { type Language, languageOfFile } from '../highlight/languages.ts'
import { joinTokens, type Token } from '../highlight/tokens.ts'
import type { DiffHunk, DiffLine, FileDiff } from './shape.ts'
import { markWords } from './texts.ts'

const decorated = new WeakMap<FileDiff, Promise<FileDiff>>()

/** The file with the changed words of its lines, and with its code in colours. */
export function decorate(file: FileDiff): Promise<FileDiff> {
  const known = decorated.get(file)
  if (known) return known
  const made = decorateFile(file)
  decorated.set(file, made)
  made.catch(() => decorated.delete(file))
  return made
}

async function decorateFile(file: FileDiff): Promise<FileDiff> {
  const hunks = file.hunks.map(
    ({ header, lines }): DiffHunk => ({ header, lines: lines.map((line) => ({ ...line })) }),
  )
  markWords(hunks)
  const language = languageOfFile(file.file)
  if (language !== null) {
    // the lines that both sides have get the colours of the new side
    for (const left of ['+', '-'] as const) {
      const sides = hunks.map(({ lines }) => lines.filter(({ kind }) => kind !== left))
      const texts = sides.map((lines) => lines.map(({ text }) => visibleText(text)))
      paint(sides, await highlightEach(texts, language))
    }
  }
  return { ...file, hunks }
}

/** Gives the lines of a diff of two whole texts their colours. */
export async function paintTexts(
  hunks: readonly DiffHunk[],
  { before, after, language }: { before: string; after: string; language: Language },
): Promise<void> {
  const tokensOf = (text: string) => highlightLines(text.split('\n').map(visibleText), language)
  const [old, now] = [await tokensOf(before), await tokensOf(after)]
  for (const line of hunks.flatMap(({ lines }) => lines)) {
    const tokens = line.new === null ? old?.[line.old! - 1] : now?.[line.new - 1]
    if (tokens && joinTokens(tokens) === visibleText(line.text)) line.tokens = tokens
  }
}

function paint(sides: readonly DiffLine[][], tokens: readonly (Token[][] | null)[]): void {
  sides.forEach((lines, index) => {
    lines.forEach((line, at) => {
      const found = tokens[index]?.[at]
      if (found) line.tokens = found
    })
  })
}
