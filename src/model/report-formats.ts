/** The test reports that a step can print, by the word after `proof=` in a plan. */

interface FormatFacts {
  /** Names it on pages. */
  label: string
  /** Names what is missing if the output has no such report. */
  content: string
  /** The end of the name of its artifact. */
  extension: string
  /** Explains to an agent what the word means, where the word does not say it. */
  hint?: string
}

/** Each has its parser in runners/reports. */
export const REPORT_FORMATS = {
  tap: {
    label: 'TAP',
    content: 'TAP',
    extension: '.tap',
  },
  junit: {
    label: 'JUnit',
    content: 'JUnit XML',
    extension: '.xml',
  },
  go: {
    label: 'Go',
    content: 'go test -json events',
    extension: '.jsonl',
    hint: 'the output of go test -json',
  },
} as const satisfies Record<string, FormatFacts>

export type ReportFormat = keyof typeof REPORT_FORMATS

export const REPORT_NAMES = Object.keys(REPORT_FORMATS) as ReportFormat[]

/** The facts of a format; null for other evidence. */
export function reportFacts(proof: string | null): FormatFacts | null {
  return proof !== null && Object.hasOwn(REPORT_FORMATS, proof)
    ? REPORT_FORMATS[proof as ReportFormat]
    : null
}
