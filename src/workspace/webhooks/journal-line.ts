import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import * as z from 'zod'
import type { Delivery, Failing } from '../../model/delivery.ts'
import { sealOf, unsealed } from '../log/log-line.ts'

/** How far a receiver has come. */
export interface Progress {
  /** The id in the log up to which every event was sent, is among the deliveries, or was not for it. */
  cursor: number
  failing: Failing | null
}

export interface JournalEntry extends Progress {
  delivery: Delivery | null
}

const TIME = z.iso.datetime({ offset: true })
const COUNT = z.number().int().nonnegative()
const DELIVERY = z.object({
  id: z.string().min(1),
  event: z.number().int().positive(),
  type: z.string(),
  envelope: z.string(),
  state: z.enum(['delivered', 'retrying', 'dead']),
  attempts: z.array(
    z.object({
      at: TIME,
      ms: z.number(),
      status: z.number().nullable(),
      error: z.string().nullable(),
      retry_after_ms: z.number().nullable(),
    }),
  ),
  tries: COUNT,
  next_at: TIME.nullable(),
})
const ENTRY = z.object({
  cursor: COUNT,
  failing: z.object({ since: TIME, count: COUNT }).nullable(),
  delivery: DELIVERY.nullable(),
}) satisfies z.ZodType<JournalEntry>

const SLICE_MS = 5

/** One line, with its line feed. */
export function encodeEntry({ cursor, failing, delivery }: JournalEntry): string {
  const rest = JSON.stringify({ cursor, failing, delivery }).slice(1)
  return `${sealOf(crc32(rest))}${rest}\n`
}

/** A line without its line feed; null when it is not as it was written, or makes no sense. */
export function entryOf(line: Buffer): JournalEntry | null {
  if (!unsealed(line)) return null
  try {
    return ENTRY.safeParse(JSON.parse(line.toString())).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * The lines that stand for all there is, made in slices that block nobody. Each says a cursor before
 * the event of the next one: should a line be lost later, the last good one before it leads back to
 * the event whose only trace it was.
 */
export async function encodeSnapshot(
  { cursor, failing }: Progress,
  deliveries: Iterable<Delivery>,
): Promise<Buffer> {
  const sorted = inOrder(deliveries)
  const before = (next: Delivery | undefined) => (next ? Math.min(cursor, next.event - 1) : cursor)
  const parts: Buffer[] = []
  let lines = encodeEntry({ cursor: before(sorted[0]), failing, delivery: null })
  let since = performance.now()
  for (const [index, delivery] of sorted.entries()) {
    lines += encodeEntry({ cursor: before(sorted[index + 1]), failing, delivery })
    if (performance.now() - since < SLICE_MS) continue
    parts.push(Buffer.from(lines))
    lines = ''
    await setImmediate()
    since = performance.now()
  }
  return Buffer.concat([...parts, Buffer.from(lines)])
}

export function inOrder(deliveries: Iterable<Delivery>): Delivery[] {
  return [...deliveries].sort((a, b) => a.event - b.event)
}
