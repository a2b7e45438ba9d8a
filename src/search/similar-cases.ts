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
  const terms = tellingTerms(facts.title, lines.join('\n'))
  const fits = (other: string) => other === id || cases.facts(other)?.state === 'RESOLVED'
  const found = cases.index.alike(terms, fits)
  const own = found.find((each) => each.id === id)?.score
  if (!own) return []
  return found
    .filter((each) => each.id !== id && each.score >= own * LEAST_SCORE)
    .slice(0, limit)
    .map((each) => {
      const shared = new Set(each.terms())
      const words = terms.filter((term) => shared.has(term)).slice(0, MOST_WORDS)
      return {
        id: each.id,
        score: Math.min(1, Math.round((each.score / own) * 1000) / 1000),
        words,
      }
    })
}

/** The words of the title, and the longest of the text: the longer, the fewer cases have it. */
function tellingTerms(title: string, text: string): string[] {
  const ofTitle = new Set(termsOf(title).filter(tellsMuch))
  const others = [...new Set(termsOf(text).filter(tellsMuch))].filter((term) => !ofTitle.has(term))
  const longest = others.sort((a, b) => b.length - a.length)
  return [...ofTitle, ...longest].slice(0, MOST_TERMS)
}

function tellsMuch(term: string): boolean {
  return term.length > 1 && !isCommon(term) && !/^[\p{N}._-]+$/u.test(term)
}
