import { readSearched } from '../workspace/search-files.ts'
import type { SimilarCase } from './search-messages.ts'
import type { SearchedCases } from './searched-cases.ts'
import { searchedLines } from './searched-lines.ts'
import { isCommon, termsOf } from './words.ts'

/** More words make it hardly more alike, and take longer. */
const MOST_TERMS = 32
/** Of the score of a case against itself: less is shared by any two texts on the same program. */
const LEAST_SCORE = 0.12
const MOST_WORDS = 8
/** What is asked for as proof is much the same everywhere. */
const CHECKLIST = /^## Proof checklist\s*$/m

/** Resolved cases whose words are those of this one's title and description. */
export function similarCases(cases: SearchedCases, id: string, limit: number): SimilarCase[] {
  const facts = cases.facts(id)
  if (!facts) return []
  const [text = ''] = (readSearched(cases.folder(id), 'case.md') ?? '').split(CHECKLIST, 1)
  const lines = [...searchedLines('case', text)].map((each) => each.text.slice(each.from))
  const isShared = (term: string) => cases.index.isShared(id, term)
  const terms = tellingTerms(facts.title, lines.join('\n'), isShared)
  const isResolved = (other: string) => cases.facts(other)?.state === 'RESOLVED'
  const { own, best } = cases.index.alike(id, terms, { fits: isResolved, limit })
  if (own === 0) return []
  return best
    .filter((each) => each.score >= own * LEAST_SCORE)
    .map((each) => {
      const words = terms.filter((term) => each.terms.has(term)).slice(0, MOST_WORDS)
      return {
        id: each.id,
        score: Math.min(1, Math.round((each.score / own) * 1000) / 1000),
        words,
      }
    })
}

/**
 * The words of the title, and the longest of the text: the longer, the fewer cases have it. One with digits that no
 * other case has is a hash, an address or the id of a request, of which a log has more than 32.
 */
function tellingTerms(title: string, text: string, isShared: (term: string) => boolean): string[] {
  const ofTitle = new Set(termsOf(title).filter(tellsMuch))
  const others = [...new Set(termsOf(text).filter(tellsMuch))].filter((term) => !ofTitle.has(term))
  const longest = others
    .filter((term) => !/\p{N}/u.test(term) || isShared(term))
    .sort((a, b) => b.length - a.length)
  return [...ofTitle, ...longest].slice(0, MOST_TERMS)
}

function tellsMuch(term: string): boolean {
  return term.length > 1 && !isCommon(term) && !/^[\p{N}._-]+$/u.test(term)
}
