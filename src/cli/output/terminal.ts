import { Chalk, type ChalkInstance, supportsColor } from 'chalk'

/** The output of a command: results go to standard output, everything else to standard error. */
export interface Terminal {
  /** Writes text to standard output, unchanged. */
  print(text: string): void
  /** A line on standard error. */
  say(line: string): void
  /** Writes a line to standard error that names the program. */
  warn(line: string): void
  color: ChalkInstance
  /** Whether standard output is a terminal. */
  isTerminal: boolean
  /** Whether a person can answer a question. */
  canAsk: boolean
  /** Whether standard error is a terminal, which can show a progress line. */
  hasProgress: boolean
  /** Width of the terminal; unlimited without one. */
  width(): number
}

/** The terminal of this process. */
export function ownTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  const isTerminal = stdout.isTTY === true
  return {
    print: (text) => void stdout.write(text),
    say: (line) => void stderr.write(`${line}\n`),
    warn: (line) => void stderr.write(`casefile: ${line}\n`),
    color: new Chalk({ level: colorLevel(process.env, isTerminal) }),
    isTerminal,
    canAsk: isTerminal && stdin.isTTY === true,
    hasProgress: stderr.isTTY === true && process.env.TERM !== 'dumb',
    width: () => (isTerminal ? stdout.columns || 80 : Number.POSITIVE_INFINITY),
  }
}

/** FORCE_COLOR has priority over NO_COLOR, as in Node. Without both, only a terminal gets colours. */
function colorLevel(env: NodeJS.ProcessEnv, isTerminal: boolean): 0 | 1 | 2 | 3 {
  const { FORCE_COLOR: forced, NO_COLOR: off } = env
  if (forced !== undefined && forced !== '') {
    if (forced === '0' || forced === 'false') return 0
    return forced === '2' || forced === '3' ? (Number(forced) as 2 | 3) : 1
  }
  if ((off !== undefined && off !== '') || !isTerminal) return 0
  return supportsColor ? supportsColor.level : 0
}
