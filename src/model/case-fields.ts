import { CASE_STATES } from './case-state.ts'
import { KNOWN_CASE_TYPES, KNOWN_OUTCOMES } from './known-words.ts'
import { OUTCOME, OUTCOME_RULE, SLUG, SLUG_RULE, TAG, TAG_RULE, TITLE_MAX } from './words.ts'

/**
 * A field of a case. Its row is the one place to add or change a field: `case.md` is read and written by it
 * (markdown/case-file.ts), requests are checked and answered by it (http), the API is described, and the
 * commands (cli) and the pages (web) offer and show it by it.
 */
export interface CaseFieldRow {
  /** `case` is the id of a case. `markdown` is the body of the file; all others are frontmatter. */
  kind: 'line' | 'word' | 'words' | 'case' | 'markdown'
  /** What people read beside the value. */
  label: string
  /** A sentence for the forms, the help of commands and the API's description. */
  about: string
  example?: string
  /** The value of a case that has none; null if it is not given. */
  default?: string | readonly string[]
  required?: boolean
  /** Of a line, in characters. */
  max?: number
  /** Of a word, and each of several. */
  pattern?: RegExp
  /** What the pattern says, for people. */
  rule?: string
  /** Words that are suggested. */
  known?: readonly string[]
  /** The only values. */
  values?: readonly string[]
  /** Which request sets it: `PUT /cases/:id/state`, or both; `POST /cases` and `PUT /cases/:id` if it is not given. */
  setBy?: 'state' | 'both'
  /** False if it is not known when a case is made: then neither `casefile new` nor its form offers it. */
  whenNew?: boolean
  /** The option of commands that set it; none offers it if it is not given. */
  option?: string
  /** The name by which lists of cases are filtered; those have such a field in each row. */
  filter?: string
  /** Whether `case.md` has the key even if there is no value, so that a value that changes has a constant neighbour. */
  alwaysWritten?: boolean
  /**
   * Whether it decides what a session runs. The start of a session checks it, so a file may have any text; and it
   * is never guessed from a file that cannot be read.
   */
  checkedAtStart?: boolean
  /** Whether the form of a new case shows it at once, and not under "More". */
  isBasic?: boolean
  /** What it means if there is no value. */
  placeholder?: string
  /** Where the page of a case shows it; among the details if it is not given. */
  shownIn?: 'head' | 'state' | 'description'
}

/** In the order of the JSON. The file has the same, but for `FILE_KEYS`. */
export const CASE_FIELDS = {
  title: {
    kind: 'line',
    label: 'Title',
    about: 'The problem or request, summarized in one line',
    required: true,
    max: TITLE_MAX,
    option: '--title <text>',
    alwaysWritten: true,
    isBasic: true,
    shownIn: 'head',
  },
  type: {
    kind: 'word',
    label: 'Type',
    about: 'What kind of case it is',
    example: 'bug',
    default: 'bug',
    pattern: SLUG,
    rule: SLUG_RULE,
    known: KNOWN_CASE_TYPES,
    option: '--type <type>',
    filter: 'type',
    alwaysWritten: true,
    isBasic: true,
    shownIn: 'head',
  },
  description: {
    kind: 'markdown',
    label: 'Description',
    about: 'What happens, what should happen, how to reproduce it. Agents see this',
    default: '',
    option: '-d, --description <text>',
    isBasic: true,
    shownIn: 'description',
  },
  state: {
    kind: 'word',
    label: 'State',
    about: 'Where the case is on its way',
    example: 'RESOLVED',
    default: 'OPEN',
    values: CASE_STATES,
    setBy: 'state',
    filter: 'state',
    alwaysWritten: true,
    shownIn: 'state',
  },
  outcome: {
    kind: 'word',
    label: 'Outcome',
    about: 'What was found',
    example: 'ConfirmedCodeBug',
    pattern: OUTCOME,
    rule: OUTCOME_RULE,
    known: KNOWN_OUTCOMES,
    setBy: 'both',
    whenNew: false,
    option: '--outcome <outcome>',
    filter: 'outcome',
    alwaysWritten: true,
    shownIn: 'head',
  },
  tags: {
    kind: 'words',
    label: 'Tags',
    about: 'Words to find it by',
    example: 'auth',
    default: [],
    max: 100,
    pattern: TAG,
    rule: TAG_RULE,
    option: '--tag <tag>',
    filter: 'tag',
    alwaysWritten: true,
    isBasic: true,
    shownIn: 'head',
  },
  parent: {
    kind: 'case',
    label: 'Parent',
    about: 'The case that this one belongs to',
    option: '--parent <case>',
  },
  reason: {
    kind: 'line',
    label: 'Reason',
    about: 'Why the case is in its state',
    max: 2000,
    setBy: 'state',
    option: '--reason <text>',
    shownIn: 'state',
  },
  workdir: {
    kind: 'line',
    label: 'Working folder',
    about: 'The folder that its sessions work in, relative to the workspace',
    max: 1000,
    option: '--workdir <dir>',
    checkedAtStart: true,
    placeholder: 'workspace folder',
  },
  provider: {
    kind: 'word',
    label: 'Provider',
    about: 'The agent, or the runbook, that plans and runs its new sessions',
    pattern: SLUG,
    rule: SLUG_RULE,
    option: '--provider <name>',
    checkedAtStart: true,
    placeholder: 'workspace default',
  },
  source: {
    kind: 'line',
    label: 'Source',
    about: 'The address that it was imported from',
    example: 'https://github.com/ada/shop/issues/12',
    max: 1000,
    whenNew: false,
  },
} as const satisfies Record<string, CaseFieldRow>

type Rows = typeof CASE_FIELDS
export type CaseFieldName = keyof Rows

type ValueOf<Row> = Row extends { values: readonly (infer Value)[] }
  ? Value
  : Row extends { kind: 'words' }
    ? string[]
    : Row extends { required: true } | { default: string }
      ? string
      : string | null

/** The names of the rows that have this. */
type NamesWith<What> = { [N in CaseFieldName]: Rows[N] extends What ? N : never }[CaseFieldName]

/** The values of a case's fields. */
export type CaseValues = { [N in CaseFieldName]: ValueOf<Rows[N]> }
/** Those that are to change. */
export type CaseFields = Partial<CaseValues>
/** The same of those that `POST /cases` and `PUT /cases/:id` set. */
export type SettableFields = Partial<Omit<CaseValues, NamesWith<{ setBy: 'state' }>>>
/** Those that rows of lists have. */
export type FilteredField = NamesWith<{ filter: string }>
export type FilterName = Rows[FilteredField]['filter']
/** Those that are keys of the frontmatter. */
export type FrontmatterField = Exclude<CaseFieldName, NamesWith<{ kind: 'markdown' }>>

export type NamedField = CaseFieldRow & { name: CaseFieldName }

export const FIELD_LIST = Object.entries(CASE_FIELDS).map(([name, row]) =>
  Object.assign({ name: name as CaseFieldName }, row),
) as readonly NamedField[]

/** What `POST /cases` and `PUT /cases/:id` set. */
export const SETTABLE = FIELD_LIST.filter(({ setBy }) => setBy !== 'state')
/** What is offered when a case is made. */
export const NEW_CASE_FIELDS = SETTABLE.filter(({ whenNew }) => whenNew !== false)
/** What the rows of lists have beside the title, and are filtered by. */
export const FILTERED = FIELD_LIST.filter(({ filter }) => filter !== undefined)
export const FILTER_NAMES = FILTERED.map(({ filter }) => filter) as readonly FilterName[]

/** The frontmatter keys of a case in the order in which they are written. */
export const FILE_KEYS = [
  ...new Set([
    'id',
    'title',
    'created_at',
    'state',
    ...FIELD_LIST.filter(({ kind }) => kind !== 'markdown').map(({ name }) => name),
  ]),
] as readonly ('id' | 'created_at' | FrontmatterField)[]

/** The value of a case that has none. */
export function emptyValue({ default: value }: CaseFieldRow): string | string[] | null {
  if (value === undefined) return null
  return typeof value === 'string' ? value : [...value]
}
