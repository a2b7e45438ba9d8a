import type { Case } from '../model/case.ts'
import { CASE_FIELDS } from '../model/case-fields.ts'
import { newCase } from '../model/decide-case.ts'
import { TAG, TITLE_MAX } from '../model/words.ts'
import type { GithubIssue } from './github-schema.ts'
import { caseIdForSource, type Source } from './source.ts'
import { oneLine, plainBreaks } from './text.ts'

/** The same limit as for a case that is created by a request. */
const MOST_TAGS = 100

const FEATURE = /^(type[:/] ?)?(feature|enhancement|feature request)$/i
const BUG = /^(type[:/] ?)?bug$/i

/** Converts an issue to a case; the issue's text becomes the description. */
export function convertIssue(
  issue: GithubIssue,
  source: Source,
  { type, now }: { type?: string | undefined; now: string },
): Case {
  const labels = (issue.labels ?? []).map(({ name }) => name)
  const title =
    oneLine(issue.title ?? '')
      .slice(0, TITLE_MAX)
      .toWellFormed() || source.name
  const fields = {
    title,
    type: type ?? typeOf(labels),
    tags: tagsOf(labels),
    source: source.url,
  }
  return {
    ...newCase(fields, caseIdForSource(source), issue.createdAt ?? now),
    ...endOf(issue),
    description: plainBreaks(issue.body ?? ''),
  }
}

/**
 * A closed issue has no verified proof, so its case does not become RESOLVED. One closed as completed becomes
 * COMPRESSED: done, with its record elsewhere. Setting it to VERIFYING asks for proof.
 */
function endOf(issue: GithubIssue): Pick<Case, 'state' | 'outcome' | 'reason'> {
  const isClosed = issue.state ? /^closed$/i.test(issue.state) : Boolean(issue.closedAt)
  if (!isClosed) return { state: 'OPEN', outcome: null, reason: null }
  const when = issue.closedAt ? ` on ${issue.closedAt.slice(0, 10)}` : ''
  const because = (as: string) => `Closed on GitHub as ${as}${when}`
  switch (issue.stateReason?.toUpperCase()) {
    case 'NOT_PLANNED':
      return { state: 'WONT_FIX', outcome: 'WontFix', reason: because('not planned') }
    case 'DUPLICATE':
      return { state: 'NON_ISSUE', outcome: 'Duplicate', reason: because('a duplicate') }
    default: {
      const reason = `${because('completed')}; no verified proof here`
      return { state: 'COMPRESSED', outcome: null, reason }
    }
  }
}

function typeOf(labels: readonly string[]): string {
  if (labels.some((label) => BUG.test(label))) return 'bug'
  return labels.some((label) => FEATURE.test(label)) ? 'feature' : CASE_FIELDS.type.default
}

/** `good first issue` becomes `good-first-issue`. A label without letters appears only in the notes. */
function tagsOf(labels: readonly string[]): string[] {
  const tags = labels.map((label) =>
    label
      .replace(/\s+/g, '-')
      .replace(/[^\p{L}\p{N}._:/+-]/gu, '')
      .replace(/^[^\p{L}\p{N}]+|-+$/gu, '')
      .slice(0, 64)
      .replace(/[\ud800-\udbff]$/, ''),
  )
  return [...new Set(tags)].filter((tag) => TAG.test(tag)).slice(0, MOST_TAGS)
}
