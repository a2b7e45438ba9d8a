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

/** One line that begins as a trailer does; `trailer` is null if the rest cannot be read. */
export interface ReadTrailer {
  /** The value as written. */
  text: string
  trailer: CommitTrailer | null
}

/**
 * Returns the trailers of a message, each once. They may stand anywhere: a squash puts the messages of many commits,
 * indented, into one.
 */
export function readTrailers(message: string): ReadTrailer[] {
  const found = new Map<string, ReadTrailer>()
  for (const line of message.split(/\r\n|\n|\r/)) {
    const match = /^[\s>*-]*Casefile-Session:(.*)$/i.exec(line)
    if (!match) continue
    const text = match[1]!.trim()
    found.set(text, { text, trailer: trailerOf(text) })
  }
  return [...found.values()]
}

function trailerOf(text: string): CommitTrailer | null {
  const match = VALUE.exec(text)
  if (!match) return null
  return { case_id: match[1]!, session: Number(match[2]), plan: match[3]! }
}
