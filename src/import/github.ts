import * as z from 'zod'
import type { AppError } from '../model/app-error.ts'
import { CASE_FIELDS } from '../model/case-fields.ts'
import { ended, STILL_OPEN } from './ending.ts'
import { createEntryErrors } from './entry-errors.ts'
import type { Ending, ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { decodeText, jsonOf, parseJson, typeName, unreadable } from './json-input.ts'
import { commentSection } from './notes.ts'
import { plainBreaks, time, unknownFields, wellFormed } from './text.ts'

const EXPECTED = 'what gh issue list --json prints; --from names another tool'

/** Some programs print `{}` for a deleted account. */
const person = z.object({ login: wellFormed.nullish() })

const comment = z.object({
  author: person.nullish(),
  body: wellFormed.nullish(),
  createdAt: time.nullish(),
  url: wellFormed.nullish(),
})

/** The fields of `gh issue list --json …`. Any of them may be missing. */
const issueSchema = z.object({
  number: z.int().positive().nullish(),
  url: wellFormed.nullish(),
  title: wellFormed.nullish(),
  body: wellFormed.nullish(),
  state: wellFormed.regex(/^(open|closed)$/i, 'expected OPEN or CLOSED').nullish(),
  stateReason: wellFormed.nullish(),
  labels: z.array(z.object({ name: wellFormed })).nullish(),
  assignees: z.array(person).nullish(),
  author: person.nullish(),
  milestone: z.object({ title: wellFormed.nullish() }).nullish(),
  createdAt: time.nullish(),
  updatedAt: time.nullish(),
  closedAt: time.nullish(),
  comments: z.array(comment).nullish(),
})

type Issue = z.output<typeof issueSchema>

export const GITHUB: Importer = {
  id: 'github',
  where: 'on GitHub',
  notesFile: 'github.md',
  expected: EXPECTED,
  matches: () => false, // it is what a file is read as if no other importer knows it
  read: readIssues,
}

function readIssues([file]: readonly InputFile[], { repository }: ReadOptions): ReadResult {
  const errors = createEntryErrors()
  const items = parseList(file!).flatMap((value, index) => {
    const entry = entryName(index, value)
    if (Object.hasOwn(Object(value), 'html_url')) {
      errors.add(entry, 'it looks like output of gh api, whose fields have other meanings')
      return []
    }
    const issue = errors.parse(issueSchema, value, entry)
    if (issue === null) return []
    const source = sourceOf(issue, repository)
    if (source !== null) return [toItem(issue, source, entry, unknownFields(value, issueSchema))]
    errors.add(entry, noSource(issue))
    return []
  })
  return { items, warnings: [], errors }
}

function parseList(file: InputFile): unknown[] {
  const isObject = /^\s*\{/.test(decodeText(file, EXPECTED))
  if (isObject && jsonOf(file) === undefined) {
    throw notList(file, 'separate objects. Combine them with jq -s .')
  }
  const value = parseJson(file, EXPECTED)
  if (Array.isArray(value)) return value
  throw notList(file, typeName(value))
}

function notList({ path }: InputFile, found: string): AppError {
  return unreadable(path, EXPECTED, `expected a list of issues, which begins with [; got ${found}`)
}

function entryName(index: number, value: unknown): string {
  const number = (value as { number?: unknown } | null)?.number
  return `entry ${index + 1}${Number.isInteger(number) ? ` (#${number})` : ''}`
}

function toItem(
  issue: Issue,
  source: Source,
  entry: string,
  unknown: Record<string, unknown>,
): ImportedItem {
  const labels = (issue.labels ?? []).map(({ name }) => name)
  return {
    entry,
    name: source.name,
    source: source.url,
    origin: source.url.toLowerCase(), // GitHub ignores case in names
    title: issue.title ?? null,
    type: typeOf(labels),
    labels,
    created_at: issue.createdAt ?? null,
    ending: endingOf(issue),
    parent: null,
    description: plainBreaks(issue.body ?? ''),
    criteria: [],
    notes: {
      fields: [
        ['title', issue.title],
        ['state', issue.state],
        ['state_reason', issue.stateReason],
        ['author', issue.author?.login],
        ['assignees', issue.assignees?.flatMap(({ login }) => login || [])],
        ['labels', labels],
        ['milestone', issue.milestone?.title],
        ['created_at', issue.createdAt],
        ['updated_at', issue.updatedAt],
        ['closed_at', issue.closedAt],
      ],
      sections: commentSection(
        issue.comments?.map(({ author, body, createdAt, url }) => ({
          author: author?.login,
          created_at: createdAt,
          url,
          text: body,
        })),
      ),
      unknown,
    },
  }
}

function endingOf(issue: Issue): Ending {
  const isClosed = issue.state ? /^closed$/i.test(issue.state) : Boolean(issue.closedAt)
  if (!isClosed) return STILL_OPEN
  const at = issue.closedAt
  switch (issue.stateReason?.toUpperCase()) {
    case 'NOT_PLANNED':
      return ended('dropped', { how: 'Closed on GitHub as not planned', at })
    case 'DUPLICATE':
      return ended('duplicate', { how: 'Closed on GitHub as a duplicate', at })
    default:
      return ended('done', { how: 'Closed on GitHub as completed', at })
  }
}

const FEATURE = /^(type[:/] ?)?(feature|enhancement|feature request)$/i
const BUG = /^(type[:/] ?)?bug$/i

function typeOf(labels: readonly string[]): string {
  if (labels.some((label) => BUG.test(label))) return 'bug'
  return labels.some((label) => FEATURE.test(label)) ? 'feature' : CASE_FIELDS.type.default
}

interface Source {
  /** For example `https://github.com/ada/shop/issues/12`. */
  url: string
  /** For example `ada/shop#12`. */
  name: string
}

/** The format of gh's `--repo`: owner and name, with a host if it is not github.com. */
export const REPOSITORY = /^(?:([\w.-]+(?::\d+)?)\/)?([\w.-]+)\/([\w.-]+)$/

/**
 * The source named in the issue itself, else built from its number and `repository`; null if neither has enough
 * information.
 */
function sourceOf({ url, number }: Issue, repository: string | undefined): Source | null {
  if (url) return URL.canParse(url) ? sourceAt(new URL(url)) : null
  const [, host = 'github.com', owner, name] = REPOSITORY.exec(repository ?? '') ?? []
  if (!number || owner === undefined) return null
  return sourceAt(new URL(`https://${host}/${owner}/${name}/issues/${number}`))
}

function sourceAt({ protocol, username, host, pathname }: URL): Source | null {
  const [, owner, name, number] = /^\/([^/]+)\/([^/]+)\/issues\/(\d+)\/?$/.exec(pathname) ?? []
  if (!/^https?:$/.test(protocol) || username !== '' || number === undefined) return null
  return {
    url: `${protocol}//${host}/${owner}/${name}/issues/${number}`,
    name: `${owner}/${name}#${number}`,
  }
}

/** Why it is unknown which issue an entry is. */
function noSource({ url, number }: Issue): string {
  if (url) {
    return `url: expected the address of an issue, such as https://github.com/ada/shop/issues/12; got ${JSON.stringify(url.slice(0, 200))}`
  }
  if (!number) return 'it has neither url nor number: add both fields to gh issue list --json'
  return 'it has no url: add url to gh issue list --json, or use --repo owner/name'
}
