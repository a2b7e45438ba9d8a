/** The line in a commit's message that names the session whose work it contains. docs/verify.md has the format. */

export interface CommitTrailer {
  case_id: string
  /** The number of the session. */
  session: number
  /** The first 12 hexadecimal digits of the approved plan's SHA-256. */
  plan: string
}

export const TRAILER_KEY = 'Casefile-Session'

const PLAN_DIGITS = 12
const VALUE =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\/([1-9]\d{0,5}) plan=([0-9a-f]{12})$/

export function trailerText({
  case_id,
  session,
  plan_sha256,
}: {
  case_id: string
  session: number
  plan_sha256: string
}): string {
  return `${TRAILER_KEY}: ${case_id}/${session} plan=${plan_sha256.slice(0, PLAN_DIGITS)}`
}

/** What a commit needs to know of the session that makes it. */
export interface RunningSession {
  case_id: string
  session: number
  plan_sha256: string
  approved_at: string
}

/** Passed to what a session runs, as it may not see the record. */
export function runVariables(running: Omit<RunningSession, 'case_id'>) {
  return {
    CASEFILE_SESSION_NUMBER: String(running.session),
    CASEFILE_PLAN_SHA256: running.plan_sha256,
    CASEFILE_APPROVED_AT: running.approved_at,
  }
}

/** The session that this program is run by; null if there is none, or if a value is none that Casefile gives. */
export function runningSession(environment: NodeJS.ProcessEnv): RunningSession | null {
  const {
    CASEFILE_CASE: case_id = '',
    CASEFILE_SESSION_NUMBER: number = '',
    CASEFILE_PLAN_SHA256: plan_sha256 = '',
    CASEFILE_APPROVED_AT: approved_at = '',
  } = environment
  const running = { case_id, session: Number(number), plan_sha256, approved_at }
  const value = trailerText(running).slice(TRAILER_KEY.length + 2)
  return VALUE.test(value) && Number.isFinite(Date.parse(approved_at)) ? running : null
}

/** One line that begins as a trailer does, or looks as if; `trailer` is null if it is not one that Casefile writes. */
export interface ReadTrailer {
  /** The value as written; the whole line if its beginning is not exact. */
  text: string
  trailer: CommitTrailer | null
}

/** What some programs show as the end of a line, though git does not. */
const SOFT_END = /[\v\f\x85\u2028\u2029]/

/**
 * Returns the trailers of a message, each once. They may stand anywhere: a squash puts the messages of many commits,
 * indented, into one. A line that git or a person may take for a trailer is never left out.
 */
export function readTrailers(message: string): ReadTrailer[] {
  const found = new Map<string, ReadTrailer>()
  for (const line of message.split(/\r\n|\n|\r/)) {
    for (const trailer of trailersIn(line.split(SOFT_END))) found.set(trailer.text, trailer)
  }
  return [...found.values()]
}

/** In the parts of a line. The key itself may be split. */
function trailersIn(parts: readonly string[]): ReadTrailer[] {
  return parts.flatMap((part, index) => {
    const exact = exactTrailer(part)
    if (exact) return exact
    const joined = /\p{L}/u.test(part) ? parts.slice(index, index + KEY_LENGTH).join('') : part
    const shown = [part, joined].find(showsKey)
    return shown === undefined ? [] : { text: shown.trim(), trailer: null }
  })
}

function exactTrailer(line: string): ReadTrailer | null {
  const match = /^[\s>*-]*Casefile-Session:(.*)$/i.exec(line)
  if (!match) return null
  const text = match[1]!.trim()
  return { text, trailer: trailerOf(text) }
}

function trailerOf(text: string): CommitTrailer | null {
  const match = VALUE.exec(text)
  if (!match) return null
  return { case_id: match[1]!, session: Number(match[2]), plan: match[3]! }
}

/** What may pass for a letter of the key: Cyrillic, Greek, Armenian and small capital letters, and digits. */
const SIMILAR: Record<string, string> = {
  a: '\u0430\u03b1\u0251\u1d00',
  c: '\u0441\u03f2\u1d04',
  e: '\u0435\u03b5\u0454\u1d07',
  f: '\ua730',
  i: 'l1|\u0131\u0456\u03b9\u026a\u029f\u04cf\u01c0',
  l: 'i1|\u0131\u0456\u03b9\u026a\u029f\u04cf\u01c0',
  n: '\u03bd\u043f\u0578\u0274',
  o: '0\u043e\u03bf\u0585\u1d0f',
  s: '\u0455\ua731',
}
const lettersOf = (word: string) =>
  [...word].map((letter) => `[${letter}${SIMILAR[letter]!}]`).join('')
const DASH = '[\\p{Pd}_\u2212\u2043\u02d7]+'
const COLON = '[:=\u02d0\u0589\u05c3\u2236\ua789]'
const KEY = new RegExp(
  `^${lettersOf('casefile')}${DASH}${lettersOf('session')}s?\\s*(?:${COLON}|\\s[0-9a-f]{8}\\b)`,
  'u',
)
const KEY_LENGTH = TRAILER_KEY.length + 1
/** Signs before the key: those of a list, a quotation or a comment. */
const MARKS = /^(?:[^\p{L}\p{N}]|\d+[.)]\s)*/u
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{M}\p{Cc}]/gu

/** Whether a line shows the key of a trailer, to somebody who does not look closely. */
function showsKey(line: string): boolean {
  const shown = line
    .replaceAll(/\s/g, ' ')
    .replaceAll('\u00ad', '-')
    .normalize('NFKD')
    .replaceAll(INVISIBLE, '')
    .toLowerCase()
  return KEY.test(shown.replace(MARKS, ''))
}
