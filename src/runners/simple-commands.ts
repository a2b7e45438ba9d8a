/** Reads shell commands strictly: what a shell might read in another way is not read at all. */

/** A word of a shell command, without its quotes. What the shell would expand stays as it is written. */
export interface ShellWord {
  text: string
  isQuoted: boolean
  /** The shell may make other words of it, or several. */
  isExpanded: boolean
  /** What it expands to may begin with a dash. */
  mayBeOption: boolean
}

/** One program with its arguments, of a command that may have several. Keywords in front are words of it. */
export interface SimpleCommand {
  words: ShellWord[]
  /** The files that it is redirected to. */
  written: ShellWord[]
}

const MAX_DEPTH = 5
const MAX_CHARACTERS = 200_000
/** Other white space and control characters, which shells do not read as the words here are read. */
const ODD_CHARACTERS = /[^\S \t\n]|[\0-\x08\x0b-\x1f\x7f-\x9f]/
const SHELL = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?(?:ba|da|z|k|a)?sh$/

/**
 * The simple commands of a shell command, including those in `$(…)` and `sh -c`; null unless it is certain that a
 * shell, be it sh, bash or zsh, would run no others.
 */
export function simpleCommands(command: string): SimpleCommand[] | null {
  return ifCertain(() => commandsIn(command, 0))
}

function ifCertain<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error === UNCERTAIN) return null
    throw error
  }
}

/** The words of the only command, which runs in the foreground with nothing around it; null unless that is certain. */
export function onlyCommand(command: string): ShellWord[] | null {
  if (simpleCommands(command)?.length !== 1) return null
  return ifCertain(() => {
    const reader = { text: command, at: 0, depth: 0, found: [] }
    const only: SimpleCommand = { words: [], written: [] }
    readWords(reader, only)
    take(reader, ENDS)
    const isAll = reader.at === command.length && only.written.length === 0
    return isAll ? only.words : null
  })
}

const UNCERTAIN = new Error('the command cannot be read with certainty')

function uncertain(): never {
  throw UNCERTAIN
}

function commandsIn(command: string, depth: number): SimpleCommand[] {
  if (command.length > MAX_CHARACTERS || ODD_CHARACTERS.test(command)) uncertain()
  const reader = { text: command, at: 0, depth, found: [] }
  readList(reader, '')
  return reader.found
}

interface Reader {
  text: string
  at: number
  depth: number
  found: SimpleCommand[]
}

/** Blanks, also the end of a line behind a backslash, and comments. */
const BLANK = /(?:[ \t]|\\\n)*(?:(?<![^ \t\n;|&()])#[^\n]*)?/y
const ENDS = /[;\s]+/y
const SEPARATOR = /[;|\n]+|&(?!>)[;|&\n]*/y
/** Without here-documents, and without commands in place of files. */
const REDIRECTION = /(?:\d*(?=[<>]))?(<>|<<<|<&?|>>|>\||>&?|&>>?)(?![<>(&|])/y

/** Reads commands up to the closing character, which is consumed; to the end of the text if it is empty. */
function readList(reader: Reader, end: '' | ')'): void {
  if (reader.depth > MAX_DEPTH) uncertain()
  for (;;) {
    take(reader, BLANK)
    if (take(reader, SEPARATOR)) continue
    const next = reader.text[reader.at] ?? ''
    if (next === '' || next === ')') {
      if (next !== end) uncertain()
      reader.at += next.length
      return
    }
    if (next === '(') readSubshell(reader)
    else readSimple(reader)
  }
}

/** `(…)`, and what it is redirected to. `((` would be arithmetic, and a word behind it something else. */
function readSubshell(reader: Reader): void {
  reader.at += 1
  if (reader.text[reader.at] === '(') uncertain()
  nested(reader, () => readList(reader, ')'))
  const command: SimpleCommand = { words: [], written: [] }
  readWords(reader, command)
  if (command.words.length > 0) uncertain()
  if (command.written.length > 0) reader.found.push(command)
}

function readSimple(reader: Reader): void {
  const command: SimpleCommand = { words: [], written: [] }
  readWords(reader, command)
  const script = scriptOf(command.words)
  if (script === null) {
    reader.found.push(command)
    return
  }
  nested(reader, () => reader.found.push(...commandsIn(script, reader.depth)))
  if (command.written.length > 0) reader.found.push({ words: [], written: command.written })
}

/** The script of `sh -c script`; null if there is none, or a part of it is not known. */
function scriptOf(words: readonly ShellWord[]): string | null {
  const [shell, ...others] = words
  const script = others.pop()
  if (!shell || !script || script.isExpanded || !SHELL.test(shell.text)) return null
  const last = others.pop()
  const isScript = last && /^-[elux]*c[elux]*$/.test(last.text)
  return isScript && others.every(({ text }) => /^-[elux]+$/.test(text)) ? script.text : null
}

function nested(reader: Reader, read: () => void): void {
  reader.depth += 1
  read()
  reader.depth -= 1
}

/** Reads words and redirections, up to the end of the command. */
function readWords(reader: Reader, command: SimpleCommand): void {
  for (;;) {
    take(reader, BLANK)
    const [, operator = ''] = take(reader, REDIRECTION) ?? []
    if (operator === '') {
      const word = readWord(reader)
      if (!word) break
      command.words.push(word)
      continue
    }
    take(reader, BLANK)
    const target = reader.text[reader.at] === '#' ? null : readWord(reader)
    if (!target) uncertain()
    const isDuplicate = operator.endsWith('&') && /^(?:\d+|-)$/.test(target.text)
    if (operator.includes('>') && !isDuplicate) command.written.push(target)
    // a POSIX shell ends the command before `&>`
    if (operator.startsWith('&')) break
  }
  take(reader, BLANK)
  const { text, at } = reader
  if (at < text.length && !/^(?:[;|\n)]|&(?!>))/.test(text.slice(at, at + 2))) uncertain()
}

const LITERAL = /[^\s;|&()<>'"`\\$*?[{]+/y
/** fish makes other characters of escaped letters. */
const ESCAPED = /\\(\n|[^\w\n])/y
const PLAIN = /(\$?)'([^']*)'/y

/** Reads a word; null if there is none here. */
function readWord(reader: Reader): ShellWord | null {
  const from = reader.at
  const word: ShellWord = { text: '', isQuoted: false, isExpanded: false, mayBeOption: false }
  while (readPiece(reader, word));
  return reader.at === from ? null : word
}

/** `find -name {}`, and the programs `[` and `[[`. */
const NO_PATTERN = /^(?:\{\}|\[\[?(?:\s|$))/

function readPiece(reader: Reader, word: ShellWord): boolean {
  const literal = take(reader, LITERAL)
  if (literal) {
    word.text += literal[0]
    return true
  }
  const escaped = take(reader, ESCAPED)
  if (escaped) {
    word.text += escaped[1] === '\n' ? '' : escaped[1]
    word.isQuoted = true
    return true
  }
  const plain = take(reader, PLAIN)
  if (plain) {
    const [, dollar, text = ''] = plain
    // fish reads `\'` as a quote inside of the text, and so do others after a dollar
    if (text.endsWith('\\') || (dollar !== '' && text.includes('\\'))) uncertain()
    word.text += text
    word.isQuoted = true
    return true
  }
  const next = reader.text[reader.at]
  if (next === '"') {
    reader.at += 1
    readQuoted(reader, word)
  } else if (next === '$' || next === '`') {
    // without quotes it may become several words
    if (readExpansion(reader, word, DOLLAR)) word.mayBeOption = true
  } else if (next !== undefined && '*?[{'.includes(next)) {
    const isPattern = !NO_PATTERN.test(reader.text.slice(reader.at, reader.at + 3))
    word.mayBeOption ||= isPattern && mayLead(word)
    word.isExpanded ||= isPattern
    word.text += next
    reader.at += 1
  } else return false
  return true
}

/** Whether what is expanded at the present end of the word decides which option it is. Later ends are like the first. */
const mayLead = ({ text, isExpanded }: ShellWord) =>
  !isExpanded && (text === '' || text.startsWith('-'))

const QUOTED = /[^"\\$`]+/y
const ESCAPED_IN_QUOTES = /\\([\s\S])/y
/** A dollar that is nothing but a dollar. */
const DOLLAR = /\$(?=[\s;|&)]|$)/y
const DOLLAR_IN_QUOTES = /\$(?=["\s;|&)/.,])/y

/** The rest of a text in double quotes. */
function readQuoted(reader: Reader, word: ShellWord): void {
  word.isQuoted = true
  for (;;) {
    const literal = take(reader, QUOTED)
    if (literal) {
      word.text += literal[0]
      continue
    }
    const escaped = take(reader, ESCAPED_IN_QUOTES)
    if (escaped) {
      const [whole, character = ''] = escaped
      word.text += character === '\n' ? '' : /["\\$`]/.test(character) ? character : whole
      continue
    }
    const next = reader.text[reader.at]
    if (next === undefined) uncertain()
    if (next === '"') {
      reader.at += 1
      return
    }
    const leads = mayLead(word)
    if (readExpansion(reader, word, DOLLAR_IN_QUOTES)) word.mayBeOption ||= leads
  }
}

/** A variable. zsh reads a bracket behind it as a part of it. */
const VARIABLE = /\$(?:\w+|[?#@*!$-]|\{\w+\})(?![\w[])/y
const SUBSTITUTION = /\$\((?!\()/y
const BACKTICKS = /`([^`'"$\\()]*)`/y

/** Reads what begins with `$` or a backtick; false if that is the character itself. */
function readExpansion(reader: Reader, word: ShellWord, dollar: RegExp): boolean {
  const variable = take(reader, VARIABLE)
  if (!variable && take(reader, dollar)) {
    word.text += '$'
    return false
  }
  word.text += variable?.[0] ?? '$'
  word.isExpanded = true
  if (variable) return true
  if (take(reader, SUBSTITUTION)) {
    nested(reader, () => readList(reader, ')'))
    return true
  }
  const ticks = take(reader, BACKTICKS)
  if (!ticks) uncertain()
  nested(reader, () => reader.found.push(...commandsIn(ticks[1]!, reader.depth)))
  return true
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  if (!found || found[0] === '') return null
  reader.at += found[0].length
  return found
}

/** Its words as one line. */
export function commandText({ words }: SimpleCommand): string {
  return words.map(({ text }) => text).join(' ')
}
