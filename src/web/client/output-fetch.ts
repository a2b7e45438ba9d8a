/** A part of a log, or how long the log is where it has none there. */
export interface LogPart {
  from: number
  bytes: Uint8Array
  size: number
}

/** The bytes from `from` on, at most `length`; null when the service does not answer, or has no such log. */
export async function logPart(
  address: string,
  from: number,
  length: number,
): Promise<LogPart | null> {
  return partOf(address, `bytes=${from}-${from + length - 1}`)
}

/** The last bytes. */
export async function logEnd(address: string, length: number): Promise<LogPart | null> {
  return partOf(address, `bytes=-${length}`)
}

async function partOf(address: string, range: string): Promise<LogPart | null> {
  let response: Response
  try {
    response = await fetch(address, { headers: { range }, cache: 'no-store' })
    const [, from, size] =
      /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
    if (response.status === 416) return { from: 0, bytes: new Uint8Array(), size: Number(size) }
    if (response.status !== 206) return null
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { from: Number(from), bytes, size: Number(size) }
  } catch {
    return null // the live connection is cut too, and says so; it asks again once it is back
  }
}
