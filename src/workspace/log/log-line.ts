import { crc32 } from 'node:zlib'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

export interface LogEvent {
  /** From 1 up, in the order of appending. Damage may leave a gap, but no id is ever given twice. */
  id: number
  type: string
  /** The envelope's exact bytes as text. */
  envelope: string
}

/** What the log takes at once and keeps whole or not at all. */
export interface NewBatch {
  events: { type: string; envelope: string }[]
  /** The last published values by key; null removes one. */
  marks: Record<string, JsonValue | null>
}

/** What a line says before its events: enough to find an event without parsing every line. */
export interface LineHeader {
  /** Counts the batches from 1; says what a checkpoint covers, as a batch may have no event. */
  batch: number
  /** The id of its first event; of the next one to come where it has none. */
  first: number
  count: number
  /** Its marks are all there are: what was marked before is void. */
  baseline: boolean
}

export interface LogBatch extends LineHeader, NewBatch {}

const SEAL_BYTES = '{"crc":"00000000",'.length
const SEAL = /^\{"crc":"([0-9a-f]{8})",$/
const HEADER = /^"batch":(\d{1,15}),"first":(\d{1,15}),"count":(\d{1,9}),"baseline":(true|false),/
const LONGEST_HEADER = 100
/** Of `{"type":"","envelope":""},` with something in it: for what a line that cannot be read may hold. */
const SHORTEST_EVENT = 30

/** One line, with its line feed. */
export function encodeLine({ batch, first, baseline, events, marks }: LogBatch): string {
  const told = events.map(({ type, envelope }) => ({ type, envelope }))
  const header = `"batch":${batch},"first":${first},"count":${events.length},"baseline":${baseline}`
  const rest = `${header},"events":${JSON.stringify(told)},"marks":${JSON.stringify(marks)}}`
  return `${sealOf(crc32(rest))}${rest}\n`
}

/** A line without its line feed; null when a bit of it is not as it was written. */
export function headerOf(line: Buffer): LineHeader | null {
  const rest = unsealed(line)
  return rest && readHeader(rest)
}

/** The batch of a line whose header could be read. */
export function batchOf(line: Buffer, header: LineHeader): LogBatch {
  const { events, marks } = JSON.parse(line.toString()) as NewBatch
  return { ...header, events, marks }
}

/** How many ids a damaged line may have used up: what its header says, else as many as would fit. */
export function idsUsedBy(line: Buffer): number {
  const fit = 1 + Math.floor(line.length / SHORTEST_EVENT)
  return readHeader(line.subarray(SEAL_BYTES))?.count ?? fit
}

/** The beginning of a JSON object whose further bytes have this CRC-32. */
export function sealOf(crc: number): string {
  return `{"crc":"${crc.toString(16).padStart(8, '0')}",`
}

/** What follows the seal; null when it is not what was sealed. */
export function unsealed(bytes: Buffer): Buffer | null {
  const seal = SEAL.exec(bytes.toString('latin1', 0, SEAL_BYTES))
  const rest = bytes.subarray(SEAL_BYTES)
  return seal && Number.parseInt(seal[1]!, 16) === crc32(rest) ? rest : null
}

function readHeader(rest: Buffer): LineHeader | null {
  const found = HEADER.exec(rest.toString('latin1', 0, LONGEST_HEADER))
  if (!found) return null
  const [batch, first, count] = found.slice(1, 4).map(Number) as [number, number, number]
  return { batch, first, count, baseline: found[4] === 'true' }
}
