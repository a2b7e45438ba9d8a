import { newFrontmatter } from '../markdown/field-edit.ts'
import type { YamlValue } from '../markdown/yaml-scalar.ts'
import type { GithubComment, GithubIssue } from './github-schema.ts'
import type { Source } from './source.ts'
import { oneLine } from './text.ts'

/** The memory file for everything of an issue that a case has no field for. */
export const NOTES_FILE = 'github.md'

/**
 * Everything about an issue except its text: people, dates, labels and comments. Each comment is a quote, so that
 * it cannot be mistaken for another one or for a heading. `body` is set if the text is too long for the case.
 */
export function issueNotes(issue: GithubIssue, source: Source, body: string | null): string {
  const fields: [string, YamlValue | undefined][] = [
    ['source', source.url],
    ['title', issue.title],
    ['state', issue.state],
    ['state_reason', issue.stateReason],
    ['author', issue.author?.login],
    ['assignees', issue.assignees?.flatMap(({ login }) => login || [])],
    ['labels', issue.labels?.map(({ name }) => name)],
    ['milestone', issue.milestone?.title],
    ['created_at', issue.createdAt],
    ['updated_at', issue.updatedAt],
    ['closed_at', issue.closedAt],
  ]
  const given = fields.filter((field): field is [string, YamlValue] => !isEmpty(field[1]))
  const parts = [
    `# ${source.name} on GitHub`,
    ...(body === null ? [] : ['## Text', quoted(body)]),
    ...(issue.comments?.length ? ['## Comments', ...issue.comments.flatMap(commentParts)] : []),
  ]
  return `${newFrontmatter(given)}\n${parts.join('\n\n')}\n`
}

function isEmpty(value: YamlValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (value as unknown[]).length === 0
}

function commentParts({ author, createdAt, url, body }: GithubComment): string[] {
  const who = oneLine(author?.login ?? '') || 'somebody'
  const heading = `### ${who}${createdAt ? `, ${createdAt}` : ''}`
  return [heading, ...(url ? [oneLine(url)] : []), quoted(body ?? '')]
}

/** Quotes a text. A carriage return alone would end the quote, too. */
function quoted(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => (line === '' ? '>' : `> ${line}`))
  return lines.join('\n')
}
