import { basename } from 'node:path'

/** A word of a shell command, without its quotes. */
export interface CommandWord {
  text: string
  /** It is the program to run, which the command does not write to. */
  isProgram: boolean
  /** It is the source or target of a redirection. */
  isTarget: boolean
  /** It was quoted, so it may be a pattern or part of a text instead of a path. */
  isQuoted: boolean
  /** The folder after earlier `cd` commands; empty if there were none. */
  folder: string
}

const MAX_DEPTH = 5
const SHELL = /^(?:ba|da|z|k|a)?sh$/
/** Words that may precede the program. */
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
  /** Inside a quoted text of unknown meaning: its words are not programs. */
  isText: boolean
}

/**
 * Splits a command into words, roughly as a shell does, including nested commands in `$(…)` and `sh -c`. Nothing is
 * expanded, and scripts of other languages are not parsed. The package `shell-quote` would not do: it says neither
 * which words were quoted nor where a command ends, and knows no here-documents.
 */
export function commandWords(
  command: string,
  place: Place = { depth: 0, folder: '', isText: false },
): CommandWord[] {
  /** Of the command and of each subshell around the present one: the folder, and the one before that. */
  const folders = [{ now: place.folder, last: place.folder }]
  return commandsIn(withoutDocuments(command)).flatMap(({ words, depth }) => {
    while (folders.length <= depth) folders.push(folders.at(-1)!)
    folders.length = depth + 1
    const { now, last } = folders[depth]!
    const to = changesFolder(words)
    if (to !== null) folders[depth] = { now: folderBehind(to, { now, last }), last: now }
    const found = words.flatMap((_, at) => wordsAt(words, at, { ...place, folder: now }))
    const home = { text: '~', isProgram: false, isTarget: false, isQuoted: false, folder: now }
    return to === '~' ? [...found, home] : found
  })
}

/** Joins an argument list into one command. */
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
  /** Command substitutions inside the word. */
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

/**
 * The index of the program, after variable assignments and words like `env`; the number of words if there is none.
 */
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

/** A commit message may mention any path. */
function isMessage(before: string, text: string): boolean {
  return /^(?:-[a-z]*m|--message)$/.test(before) || /^--message=/.test(text)
}

/** Where a `cd` goes; null for another command. */
function changesFolder(words: readonly RawWord[]): string | null {
  const at = programAt(words)
  if (!['cd', 'pushd'].includes(words[at]?.text ?? '')) return null
  return words.slice(at + 1).find(({ text }) => !/^-[LPe@]+$|^--$/.test(text))?.text || '~'
}

function folderBehind(to: string, { now, last }: { now: string; last: string }): string {
  if (to === '-') return last
  return /^[/~]/.test(to) ? `${to}/` : `${now}${to}/`
}

const PIECES =
  /(?<blank>(?:[ \t\r]|\\\n)+)|(?<end>(?:[;|()\n]|&(?!>))+)|(?<target>\d*(?:&>>?|>>?[|&]?|<<<|<<-?|<[>&]?))|\$?'(?<plain>[^']*)(?:'|$)|\$?"(?<rich>(?:\\[\s\S]|[^"\\])*)(?:"|$)|\$\((?<inner>(?:[^()]|\([^()]*\))*)\)|`(?<ticks>[^`]*)(?:`|$)|\\(?<escaped>[\s\S]?)|(?<comment>(?<![^\s;|&()])#[^\n]*)|(?<bare>[^\s;|&()<>'"`\\$]+|[\s\S])/g

/** Splits a text into simple commands, each as a list of words. `depth` counts the subshells around it. */
function commandsIn(text: string): { words: RawWord[]; depth: number }[] {
  const commands: { words: RawWord[]; depth: number }[] = [{ words: [], depth: 0 }]
  let word: RawWord | null = null
  let isTarget = false
  for (const { groups = {} } of text.matchAll(PIECES)) {
    const { blank, end, target, comment, inner, ticks } = groups
    if (blank !== undefined || end !== undefined || target !== undefined || comment !== undefined) {
      if (word || end !== undefined) isTarget = false
      word = null
      if (target !== undefined) isTarget = true
      if (end !== undefined) {
        const opened = end.split('(').length - end.split(')').length
        commands.push({ words: [], depth: Math.max(0, commands.at(-1)!.depth + opened) })
      }
      continue
    }
    if (!word) {
      word = {
        text: '',
        isQuoted: false,
        isTarget,
        inner: [],
      }
      commands.at(-1)!.words.push(word)
    }
    addPiece(word, groups, inner ?? ticks)
  }
  return commands.filter(({ words }) => words.length > 0)
}

function addPiece(
  word: RawWord,
  { plain, rich, escaped, bare }: Record<string, string | undefined>,
  command: string | undefined,
): void {
  // `$((` is arithmetic, not a command
  if (command !== undefined && !command.startsWith('(')) word.inner.push(command)
  // the output of a command is unknown, so it is not checked as a path
  word.text += command === undefined ? (plain ?? rich ?? escaped ?? bare ?? '') : '$'
  word.isQuoted ||= plain !== undefined || rich !== undefined
}

/**
 * Removes here-documents that are only written to a file; others become a quoted word, since any program may read
 * them.
 */
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
