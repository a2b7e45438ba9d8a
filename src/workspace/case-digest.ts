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
    return this.#texts?.json ?? this.#kept!.shelf.json(this.#kept!.kept)
  }

  get row(): TriageRow {
    return this.#texts?.row ?? this.#kept!.shelf.row(this.#kept!.kept)
  }

  rest(shelf: Shelf, kept: KeptCase): this {
    this.#kept = { shelf, kept }
    this.#texts = null
    return this
  }
}
