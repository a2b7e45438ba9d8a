/** Which cases have a word, by their numbers. */
export interface WordCases {
  /** As it was typed. */
  typed: readonly number[]
  /** As it was typed, or nearly. */
  cases: readonly number[]
}

/** How the cases compare that have some of the words of a query. */
export interface Ranking {
  total: number
  has(number: number, word: number): 'typed' | 'near' | null
  /** The case that comes next: with most words, of these with most as typed, of these with the rarest. */
  next(): { number: number; score: number } | null
  /** Takes this case if it has this score, and was not taken; says whether. */
  take(number: number, score: number): boolean
  taken(): number
}

const HAS = 1e8
const TYPED = 1e4
const NO_CANDIDATE = -1

interface Options {
  /** All numbers are below this. */
  size: number
  /** The cases that musts and filters leave, where there are any. With musts, a case may have none of the words. */
  must: readonly number[] | null
  fitting: readonly number[] | null
}

/** If some cases have all of the words, there are no others. */
export function compareCases(words: readonly WordCases[], options: Options): Ranking {
  const { size, must, fitting } = options
  const scores = new Float64Array(size)
  const marks = words.map(({ typed, cases }) => {
    const marks = new Uint8Array(cases.length > 0 ? size : 0)
    const rarity = Math.log(1 + size / (cases.length + 1))
    for (const number of cases) {
      marks[number] = 1
      scores[number]! += HAS + rarity
    }
    for (const number of typed) {
      marks[number] = 2
      scores[number]! += TYPED
    }
    return marks
  })
  const isMust = must && new Set(must)
  const isFitting = fitting && new Set(fitting)
  let isComplete = false
  for (let number = 0; number < size; number++) {
    const isCandidate = isMust ? isMust.has(number) : scores[number]! > 0
    if (!isCandidate || isFitting?.has(number) === false) scores[number] = NO_CANDIDATE
    else if (scores[number]! >= words.length * HAS) isComplete = true
  }
  const least = isComplete ? words.length * HAS : 0
  const isRanked = (score: number) => score >= least
  const total = scores.reduce((count, score) => (isRanked(score) ? count + 1 : count), 0)
  let taken = 0

  return {
    total,
    has(number, word) {
      const mark = marks[word]![number]
      return mark === 2 ? 'typed' : mark === 1 ? 'near' : null
    },
    next() {
      let first = -1
      for (let number = 0; number < size; number++) {
        if (isRanked(scores[number]!) && (first === -1 || scores[number]! > scores[first]!)) {
          first = number
        }
      }
      return first === -1 ? null : { number: first, score: scores[first]! }
    },
    take(number, score) {
      if (scores[number] !== score) return false
      scores[number] = NO_CANDIDATE
      taken++
      return true
    },
    taken: () => taken,
  }
}
