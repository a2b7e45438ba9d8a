import { basename } from 'node:path'

/** A word of a command, without its quotes. */
export interface CommandWord {
  text: string
  /** What is run: it is not written. */
  isProgram: boolean
  /** A redirection leads to it, or from it. */
  isTarget: boolean
  /** It stood in quotes: so it may also be a pattern, or a part of a text. */
  isQuoted: boolean
  /** Where `cd` has led before; empty where it has not. */
  folder: string
}

const MAX_DEPTH = 5
const SHELL = /^(?:ba|da|z|k|a)?sh$/
/** What may stand in front of a program. */
const BEFORE_PROGRAM = [
  '{',
  '}',
  '!',
  'if',
  'then',
  'elif',
  'else',
  'while',
  'until',
  'do',
  'time',
  'env',
  'exec',
  'command',
  'builtin',
  'nohup',
  'nice',
  'setsid',
  'stdbuf',
  'sudo',
  'timeout',
  'xargs',
]

interface Place {
  depth: number
  folder: string
  /** Within a quoted text of which nobody knows what it is: there are no programs in it. */
  isText: boolean
}

/**
 * The words of a command, roughly as a shell would take it apart, with those of the commands in it: in
 * `$(…)`, and what `sh -c` is given. Nothing is expanded, and no program's own language is known.
 */
export function commandWords(
  command: string,
  place: Place = { depth: 0, folder: '', isText: false },
): CommandWord[] {
  let { folder } = place
  return commandsIn(withoutDocuments(command)).flatMap((words) => {
    const present = { ...place, folder }
    folder = folderBehind(words, folder)
    return words.flatMap((_, at) => wordsAt(words, at, present))
  })
}

/** The words of an argument list as a command. */
export function asCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:=@%+,~$-]+$/.test(word) ? word : quoted(word))).join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

interface RawWord {
  text: string
  isQuoted: boolean
  isTarget: boolean
  /** Commands whose output it holds. */
  inner: string[]
}

function wordsAt(words: readonly RawWord[], at: number, place: Place): CommandWord[] {
  const { text, isQuoted, isTarget, inner } = words[at]!
  const program = programAt(words)
  const name = basename(words[program]?.text ?? '')
  const before = words[at - 1]?.text ?? ''
  const deeper = (command: string, isText: boolean) =>
    commandWords(command, { ...place, depth: place.depth + 1, isText })
  const found = inner.flatMap((command) => deeper(command, false))
  if (name === 'git' && isMessage(before, text)) return found
  const isDeep = place.depth >= MAX_DEPTH
  if (isCommand(name, before) && !isDeep) return [...found, ...deeper(text, false)]
  if (isQuoted && /[\s'"`()]/.test(text) && !isDeep) return [...found, ...deeper(text, true)]
  if (place.isText && !/\w|~/.test(text)) return found
  const isInFront = at < program && BEFORE_PROGRAM.includes(basename(text))
  const isProgram = !place.isText && (at === program || isInFront)
  const { folder, isText } = place
  return [...found, { text, isProgram, isTarget, isQuoted: isQuoted || isText, folder }]
}

/** Behind the variables, and behind the programs that run it; the number of words where there is none. */
function programAt(words: readonly RawWord[]): number {
  let isRun = false
  const at = words.findIndex(({ text, isTarget }) => {
    if (isTarget || /^\w+=/.test(text)) return false
    const isBefore = BEFORE_PROGRAM.includes(basename(text))
    isRun ||= isBefore
    return !isBefore && !(isRun && /^[-\d]/.test(text))
  })
  return at < 0 ? words.length : at
}

function isCommand(program: string, before: string): boolean {
  return program === 'eval' || (SHELL.test(program) && /^-\w*c$/.test(before))
}

/** It may speak of any path. */
function isMessage(before: string, text: string): boolean {
  return /^(?:-[a-z]*m|--message)$/.test(before) || /^--message=/.test(text)
}

function folderBehind(words: readonly RawWord[], folder: string): string {
  const at = programAt(words)
  const to = words[at + 1]?.text
  if (!to || !['cd', 'pushd'].includes(words[at]?.text ?? '')) return folder
  return /^[/~]/.test(to) ? `${to}/` : `${folder}${to}/`
}

const PIECES =
  /(?<blank>(?:[ \t\r]|\\\n)+)|(?<end>(?:[;|()\n]|&(?!>))+)|(?<target>\d*(?:&>>?|>>?[|&]?|<<<|<<-?|<[>&]?))|\$?'(?<plain>[^']*)(?:'|$)|\$?"(?<rich>(?:\\[\s\S]|[^"\\])*)(?:"|$)|\$\((?<inner>(?:[^()]|\([^()]*\))*)\)|`(?<ticks>[^`]*)(?:`|$)|\\(?<escaped>[\s\S]?)|(?<comment>(?<![^\s;|&()])#[^\n]*)|(?<bare>[^\s;|&()<>'"`\\$]+|[\s\S])/g

/** The simple commands of a text, each as its words. */
function commandsIn(text: string): RawWord[][] {
  const commands: RawWord[][] = [[]]
  let word: RawWord | null = null
  let isTarget = false
  for (const { groups = {} } of text.matchAll(PIECES)) {
    const { blank, end, target, comment, inner, ticks } = groups
    if (blank !== undefined || end !== undefined || target !== undefined || comment !== undefined) {
      if (word || end !== undefined) isTarget = false
      word = null
      if (target !== undefined) isTarget = true
      if (end !== undefined) commands.push([])
      continue
    }
    if (!word) {
      word = { text: '', isQuoted: false, isTarget, inner: [] }
      commands.at(-1)!.push(word)
    }
    addPiece(word, groups, inner ?? ticks)
  }
  return commands.filter((words) => words.length > 0)
}

function addPiece(
  word: RawWord,
  { plain, rich, escaped, bare }: Record<string, string | undefined>,
  command: string | undefined,
): void {
  // `$((` is arithmetic
  if (command !== undefined && !command.startsWith('(')) word.inner.push(command)
  // what a command prints is not known: it is no path of its own
  word.text += command === undefined ? (plain ?? rich ?? escaped ?? bare ?? '') : '$'
  word.isQuoted ||= plain !== undefined || rich !== undefined
}

/** A here-document is a text where it is only written down; else it may be any program's, in quotes. */
function withoutDocuments(command: string): string {
  const kept: string[] = []
  let end: string | null = null
  let body: string[] = []
  const close = () => {
    const line = kept.pop() ?? ''
    const isWritten = /\b(?:cat|tee)\b/.test(line) && !line.includes('|')
    kept.push(isWritten || end === null ? line : `${line} ${quoted(body.join('\n'))}`)
    end = null
    body = []
  }
  for (const line of command.split('\n')) {
    if (end === null) {
      kept.push(line)
      end = /(?<!<)<<-?\s*(['"]?)([\w.-]+)\1/.exec(line)?.[2] ?? null
    } else if (line.trim() === end) close()
    else body.push(line)
  }
  close()
  return kept.join('\n')
}
