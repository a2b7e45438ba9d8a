import type { TriageRow } from '../model/triage-row.ts'
import type { KeptCase } from './kept/kept-case.ts'

/** What lists show of a case: the same object for as long as nothing of it has changed. */
export interface Digest {
  readonly id: string
  readonly created_at: string
  /** The case as `GET /cases/:id` gives it. */
  readonly json: string
  readonly row: TriageRow
}

interface Shelf {
  json(kept: KeptCase): string
  row(kept: KeptCase): TriageRow
}

/** Has its texts in memory, or, while the case rests, reads them from where it is kept. */
export class CaseDigest implements Digest {
  readonly id: string
  readonly created_at: string
  #texts: { json: string; row: TriageRow } | null
  #json: string | null = null
  #kept: { shelf: Shelf; kept: KeptCase } | null = null

  constructor(
    named: { id: string; created_at: string },
    texts: { json: string; row: TriageRow } | null,
  ) {
    this.id = named.id
    this.created_at = named.created_at
    this.#texts = texts
  }

  get json(): string {
    return this.#texts?.json ?? this.#json ?? this.#kept!.shelf.json(this.#kept!.kept)
  }

  get row(): TriageRow {
    return this.#texts?.row ?? this.#kept!.shelf.row(this.#kept!.kept)
  }

  rest(shelf: Shelf, kept: KeptCase): this {
    this.#kept = { shelf, kept }
    this.#texts = null
    this.#json = null
    return this
  }

  /** While it rests, until `letGo`. */
  hold(json: string): void {
    this.#json = json
  }

  letGo(): void {
    this.#json = null
  }
}

/** More than of so many characters is read again. */
const MAX_HELD = 64 * 1024 * 1024

/** Digests of cases that rest, with their JSON at hand for the first list. */
export class HeldDigests {
  #digests: CaseDigest[] = []
  #length = 0

  hold(digest: CaseDigest, json: string): CaseDigest {
    if (this.#length <= MAX_HELD) {
      this.#length += json.length
      this.#digests.push(digest)
      digest.hold(json)
    }
    return digest
  }

  letGo(): number {
    const count = this.#digests.length
    for (const digest of this.#digests) digest.letGo()
    this.#digests = []
    this.#length = 0
    return count
  }
}
