import { hash } from 'node:crypto'
import { endLine } from './json-body.ts'

/** One item of a list and its JSON; another object once anything of it has changed. */
export interface ListRow {
  json: string
  id: string
}

/** A run of rows, whose JSON is made once, and anew only when one of them has changed. */
interface Block {
  rows: readonly ListRow[]
  /** Null until wanted, and after `forgetBytes`. */
  made: MadeRows | null
  /** What was made before in its place, with most of the rows. */
  before: MadeRows | null
  hash: string | null
}

/** Rows as JSON, each with a comma before it. */
interface MadeRows {
  rows: readonly ListRow[]
  bytes: Buffer
  /** Where each row ends in the bytes. */
  ends: Uint32Array
}

export interface ListBytes {
  /** The body in pieces. */
  parts: readonly Uint8Array[]
  length: number
  etag: string
}

/** Of 2 to this power rows, one is the last of its block: so many are made anew for one that changed. */
const ROW_BITS = 7

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(endLine(']'))
const EMPTY = Buffer.from(endLine('[]'))

/**
 * The JSON of a long list of which little changes at a time. Where a block ends is decided by the id
 * of its last row alone, so rows that come or go leave all other blocks as they were, and a list with
 * the same bytes has the same ETag whatever was before.
 */
export class ListBlocks {
  #blocks: Block[] = []
  #bytes: ListBytes | null = null
  #etag: string | null = null

  /** All rows, in their order. */
  set(rows: readonly ListRow[]): void {
    this.#blocks = this.#divided(rows)
    this.#forgetWhole()
  }

  /** Another row of the same id in the place of one. */
  replace(index: number, row: ListRow): void {
    let begin = 0
    for (const [at, { rows, made, before }] of this.#blocks.entries()) {
      if (index < begin + rows.length) {
        this.#blocks[at] = blockOf(rows.with(index - begin, row), made ?? before)
        break
      }
      begin += rows.length
    }
    this.#forgetWhole()
  }

  #forgetWhole(): void {
    this.#bytes = null
    this.#etag = null
  }

  #divided(rows: readonly ListRow[]): Block[] {
    const known = new Map(this.#blocks.map((block) => [block.rows.at(-1), block]))
    const blocks: Block[] = []
    let begin = 0
    for (const [index, row] of rows.entries()) {
      if (!isLast(row.id) && index < rows.length - 1) continue
      const run = rows.slice(begin, index + 1)
      const was = known.get(row)
      const same = was && isSameRun(was.rows, run) ? was : null
      blocks.push(same ?? blockOf(run, was?.made ?? was?.before ?? null))
      begin = index + 1
    }
    return blocks
  }

  etag(): string {
    if (this.#etag === null) {
      const hashes = this.#blocks.map(hashOf)
      this.#etag = `"${hash('sha256', hashes.join(' ')).slice(0, 32)}"`
    }
    return this.#etag
  }

  bytes(): ListBytes {
    this.#bytes ??= this.#made()
    return this.#bytes
  }

  /** Keeps only what an ETag needs: the bytes of a long list are large, and soon made again. */
  forgetBytes(): void {
    for (const block of this.#blocks) {
      block.made = null
      block.before = null
    }
    this.#bytes = null
  }

  #made(): ListBytes {
    const etag = this.etag()
    const [first, ...others] = this.#blocks.map(bytesOf)
    if (!first) return { parts: [EMPTY], length: EMPTY.length, etag }
    const parts = [OPEN, first.subarray(1), ...others, CLOSE]
    return { parts, length: parts.reduce((sum, part) => sum + part.length, 0), etag }
  }
}

function blockOf(rows: readonly ListRow[], before: MadeRows | null): Block {
  return { rows, made: null, before, hash: null }
}

function hashOf(block: Block): string {
  block.hash ??= hash('sha256', bytesOf(block))
  return block.hash
}

function bytesOf(block: Block): Buffer {
  block.made ??= block.before ? madeAfter(block.before, block.rows) : madeOf(block.rows)
  block.before = null
  return block.made.bytes
}

function madeOf(rows: readonly ListRow[]): MadeRows {
  const texts = rows.map(({ json }) => `,${json}`)
  const ends = endsOf(texts.map((text) => Buffer.byteLength(text)))
  return { rows, bytes: Buffer.from(texts.join('')), ends }
}

/** Copies what has not changed: the JSON of a row may have to be read from the disk. */
function madeAfter(before: MadeRows, rows: readonly ListRow[]): MadeRows {
  const places = new Map(before.rows.map((row, at) => [row, at]))
  const pieces = rows.map((row) => {
    const at = places.get(row)
    if (at === undefined) return Buffer.from(`,${row.json}`)
    return before.bytes.subarray(before.ends[at - 1] ?? 0, before.ends[at])
  })
  return { rows, bytes: Buffer.concat(pieces), ends: endsOf(pieces.map(({ length }) => length)) }
}

function endsOf(lengths: readonly number[]): Uint32Array {
  const ends = new Uint32Array(lengths.length)
  let end = 0
  for (const [index, length] of lengths.entries()) {
    end += length
    ends[index] = end
  }
  return ends
}

/** By all of the id, in which a part may be the same in many. */
function isLast(id: string): boolean {
  let mixed = 0
  for (let index = 0; index < id.length; index++) mixed = (mixed * 31 + id.charCodeAt(index)) | 0
  return Math.imul(mixed, 0x9e3779b1) >>> (32 - ROW_BITS) === 0
}

function isSameRun(before: readonly ListRow[], now: readonly ListRow[]): boolean {
  return before.length === now.length && before.every((row, index) => row === now[index])
}
