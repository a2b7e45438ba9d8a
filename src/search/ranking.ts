/** The cases that match one word of the query, by number. */
export interface WordCases {
  /** Cases with the word as typed. */
  typed: readonly number[]
  /** Cases with the word as typed or a similar one. */
  cases: readonly number[]
}

/** Ranks the cases that have some of the words of a query. */
export interface Ranking {
  total: number
  has(number: number, word: number): 'typed' | 'near' | null
  /** Returns the next case: the one with most words, then most words as typed, then the rarest words. */
  next(): { number: number; score: number } | null
  /** Removes a case with this score from the ranking. Returns false if it was removed before or has another score. */
  remove(number: number, score: number): boolean
  /** How many cases were removed. */
  returned(): number
}

const WORD_SCORE = 1e8
const TYPED_SCORE = 1e4
const NO_CANDIDATE = -1

interface Options {
  /** One more than the highest number. */
  size: number
  /** Cases that have all phrases; null without phrases. With phrases, a case may have none of the words. */
  must: readonly number[] | null
  /** Cases that match all filters; null without filters. */
  fitting: readonly number[] | null
}

/** If some cases have all of the words, only those are ranked. */
export function compareCases(words: readonly WordCases[], options: Options): Ranking {
  const { size, must, fitting } = options
  const scores = new Float64Array(size)
  const marks = words.map(({ typed, cases }) => {
    const marks = new Uint8Array(cases.length > 0 ? size : 0)
    const rarity = Math.log(1 + size / (cases.length + 1))
    for (const number of cases) {
      marks[number] = 1
      scores[number]! += WORD_SCORE + rarity
    }
    for (const number of typed) {
      marks[number] = 2
      scores[number]! += TYPED_SCORE
    }
    return marks
  })
  const isMust = must && new Set(must)
  const isFitting = fitting && new Set(fitting)
  let isComplete = false
  for (let number = 0; number < size; number++) {
    const isCandidate = isMust ? isMust.has(number) : scores[number]! > 0
    if (!isCandidate || isFitting?.has(number) === false) scores[number] = NO_CANDIDATE
    else if (scores[number]! >= words.length * WORD_SCORE) isComplete = true
  }
  const least = isComplete ? words.length * WORD_SCORE : 0
  const isRanked = (score: number) => score >= least
  const total = scores.reduce((count, score) => (isRanked(score) ? count + 1 : count), 0)
  let returned = 0

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
    remove(number, score) {
      if (scores[number] !== score) return false
      scores[number] = NO_CANDIDATE
      returned++
      return true
    },
    returned: () => returned,
  }
}
