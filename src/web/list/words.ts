import type { CaseLists } from '../../state/case-lists.ts'

/** What the cases have of these, the most frequent first. */
export interface Words {
  types: string[]
  tags: string[]
  outcomes: string[]
}

const MAX_WORDS = 200

export function wordsOf(lists: CaseLists): Words {
  return {
    types: lists.frequent('type', MAX_WORDS),
    tags: lists.frequent('tags', MAX_WORDS),
    outcomes: lists.frequent('outcome', MAX_WORDS),
  }
}
