import * as z from 'zod'
import { caseIdFor } from './case-id.ts'
import { joinSections, listItems } from './criteria.ts'
import { ended, endingOf } from './ending.ts'
import { createEntryErrors } from './entry-errors.ts'
import type { Ending, ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { jsonOf, parseLines } from './json-input.ts'
import { commentSection, listSection, textSection } from './notes.ts'
import { plainBreaks, textOrNumber, time, unknownFields, wellFormed } from './text.ts'

const EXPECTED = 'what bd export prints: a JSON object on each line'

/** `bd export` writes the first form, `bd show --json` the second. */
const dependency = z.object({
  issue_id: wellFormed.nullish(),
  depends_on_id: wellFormed.nullish(),
  id: wellFormed.nullish(),
  type: wellFormed.nullish(),
  dependency_type: wellFormed.nullish(),
})

const comment = z.object({
  author: wellFormed.nullish(),
  text: wellFormed.nullish(),
  created_at: time.nullish(),
})

const issueSchema = z.object({
  _type: wellFormed.nullish(),
  id: wellFormed.regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,199}$/u, 'expected an id, such as bd-a1b2'),
  title: wellFormed.nullish(),
  description: wellFormed.nullish(),
  design: wellFormed.nullish(),
  acceptance_criteria: wellFormed.nullish(),
  notes: wellFormed.nullish(),
  status: wellFormed.nullish(),
  priority: textOrNumber.nullish(),
  issue_type: wellFormed.nullish(),
  assignee: wellFormed.nullish(),
  owner: wellFormed.nullish(),
  estimated_minutes: z.number().nullish(),
  created_at: time.nullish(),
  created_by: wellFormed.nullish(),
  updated_at: time.nullish(),
  started_at: time.nullish(),
  closed_at: time.nullish(),
  close_reason: wellFormed.nullish(),
  due_at: time.nullish(),
  defer_until: time.nullish(),
  external_ref: wellFormed.nullish(),
  labels: z.array(wellFormed).nullish(),
  parent: wellFormed.nullish(),
  dependencies: z.array(dependency).nullish(),
  comments: z.array(comment).nullish(),
  // counts of the lists above
  dependency_count: z.unknown().optional(),
  dependent_count: z.unknown().optional(),
  comment_count: z.unknown().optional(),
})

type Issue = z.output<typeof issueSchema>

export const BEADS: Importer = {
  id: 'beads',
  where: 'in beads',
  notesFile: 'beads.md',
  expected: EXPECTED,
  filesIn(list) {
    const places = ['.beads/issues.jsonl', '.beads/beads.jsonl', 'issues.jsonl', 'beads.jsonl']
    const found = places.find((place) => {
      const [name, folder = ''] = place.split('/').reverse()
      return list(folder).includes(name!)
    })
    return found ? [found] : []
  },
  matches(file) {
    const first = firstEntry(file)
    return isIssue(first) || isMemory(first)
  },
  read: readIssues,
}

/** The object on the first line, or the first of a list. */
function firstEntry(file: InputFile): unknown {
  const list = jsonOf(file)
  if (list !== undefined) return Array.isArray(list) ? list[0] : list
  const text = Buffer.from(file.bytes)
    .toString()
    .replace(/^\ufeff/, '')
  const line = text.split('\n').find((each) => each.trim() !== '')
  return jsonOf({ ...file, bytes: Buffer.from(line ?? '') })
}

function isIssue(value: unknown): boolean {
  const { id, issue_type, status, priority, url } = Object(value)
  if (typeof id !== 'string' || url !== undefined) return false
  return typeof issue_type === 'string' || (typeof status === 'string' && priority !== undefined)
}

/** A line of `bd export --include-memories`. */
function isMemory(value: unknown): boolean {
  return Object(value)._type === 'memory'
}

function readIssues([file]: readonly InputFile[], { project }: ReadOptions): ReadResult {
  const errors = createEntryErrors()
  const items: ImportedItem[] = []
  let [memories, deleted] = [0, 0]
  for (const { where, value } of entriesIn(file!)) {
    const id = Object(value).id
    const entry = `${where}${typeof id === 'string' ? ` (${id.slice(0, 60)})` : ''}`
    if (isMemory(value)) memories++
    else if (Object(value).status === 'tombstone') deleted++
    else {
      const issue = errors.parse(issueSchema, value, entry)
      if (issue !== null)
        items.push(toItem(issue, entry, project, unknownFields(value, issueSchema)))
    }
  }
  const warnings = [
    memories > 0 ? `${memories} memories (bd remember) belong to no issue: not imported` : '',
    deleted > 0 ? `${deleted} deleted in beads (tombstones): not imported` : '',
  ]
  return { items, warnings: warnings.filter((warning) => warning !== ''), errors }
}

/** `bd list --json` prints a list. */
function entriesIn(file: InputFile): { where: string; value: unknown }[] {
  const list = jsonOf(file)
  if (Array.isArray(list)) {
    return list.map((value, index) => ({ where: `entry ${index + 1}`, value: value as unknown }))
  }
  return parseLines(file, EXPECTED).map(({ line, value }) => ({ where: `line ${line}`, value }))
}

function toItem(
  issue: Issue,
  entry: string,
  project: string | undefined,
  unknown: Record<string, unknown>,
): ImportedItem {
  const { id, priority } = issue
  const originOf = (other: string) => `beads:${project ? `${project}/` : ''}${other}`
  const links = (issue.dependencies ?? []).flatMap(({ type, dependency_type, ...link }) => {
    const to = link.depends_on_id ?? link.id
    return to ? [{ type: type ?? dependency_type ?? 'blocks', to }] : []
  })
  const parent = links.find(({ type }) => type === 'parent-child')?.to ?? issue.parent
  const criteria = listItems(issue.acceptance_criteria ?? '')
  return {
    entry,
    name: id,
    source: originOf(id),
    origin: originOf(id),
    title: issue.title ?? null,
    type: issue.issue_type?.toLowerCase() ?? null,
    labels: [...(issue.labels ?? []), ...(priority ? [`priority:${priority}`] : [])],
    created_at: issue.created_at ?? null,
    ending: endingFor(issue, links),
    parent: parent ? originOf(parent) : null,
    description: plainBreaks(
      joinSections(issue.description, [
        { heading: 'Design', text: issue.design },
        { heading: 'Acceptance criteria', text: criteria ? null : issue.acceptance_criteria },
        { heading: 'Notes', text: issue.notes },
      ]),
    ),
    criteria: criteria ?? [],
    notes: {
      fields: [
        ['title', issue.title],
        ['status', issue.status],
        ['close_reason', issue.close_reason],
        ['issue_type', issue.issue_type],
        ['priority', priority],
        ['assignee', issue.assignee],
        ['owner', issue.owner],
        ['labels', issue.labels],
        ['external_ref', issue.external_ref],
        ['estimated_minutes', issue.estimated_minutes],
        ['created_by', issue.created_by],
        ['created_at', issue.created_at],
        ['updated_at', issue.updated_at],
        ['started_at', issue.started_at],
        ['closed_at', issue.closed_at],
        ['due_at', issue.due_at],
        ['defer_until', issue.defer_until],
      ],
      sections: [
        listSection(
          'Dependencies',
          links.map(({ type, to }) => `${type}: ${to} (case ${caseIdFor(originOf(to))})`),
        ),
        ...textSection('Acceptance criteria', criteria && issue.acceptance_criteria),
        ...commentSection(issue.comments),
      ],
      unknown,
    },
  }
}

const DUPLICATE = /^duplicate\b/i
const DROPPED = /^(?:won'?t[ -]?(?:fix|do)|not planned|cancell?ed|abandoned|rejected|obsolete)\b/i

function endingFor(issue: Issue, links: readonly { type: string }[]): Ending {
  const status = issue.status ?? 'open'
  if (status !== 'closed') return endingOf(status, { where: 'in beads', why: issue.close_reason })
  const facts = { how: 'Closed in beads', at: issue.closed_at, why: issue.close_reason }
  const why = issue.close_reason ?? ''
  if (DUPLICATE.test(why) || links.some(({ type }) => type === 'duplicates')) {
    return ended('duplicate', facts)
  }
  return ended(DROPPED.test(why) ? 'dropped' : 'done', facts)
}
