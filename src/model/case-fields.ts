import { CASE_STATES } from './case-state.ts'
import {
  OUTCOME,
  OUTCOME_RULE,
  SLUG,
  SLUG_RULE,
  TAG,
  TAG_RULE,
  TITLE_MAX,
} from './name-patterns.ts'
import { ISOLATIONS } from './settings.ts'
import { KNOWN_CASE_TYPES, KNOWN_OUTCOMES } from './suggested-values.ts'

/**
 * A field of a case. This row is the one place to add or change a field. case.md is read and written by it
 * (markdown/case-file.ts), requests and responses use it (http), and the OpenAPI document, the commands (cli) and the
 * pages (web) are built from it.
 */
export interface CaseFieldRow {
  /** `case` is the id of a case. `markdown` is the body of the file; the other kinds are frontmatter. */
  kind: 'line' | 'word' | 'words' | 'case' | 'markdown'
  /** The label of the value. */
  label: string
  /** A sentence for forms, command help and the API description. */
  about: string
  /** A value, for help texts and the API description; one word of a list. */
  example?: string
  /** The value if a case has none; null if not given. */
  default?: string | readonly string[]
  required?: boolean
  /** Maximum length of a line, in characters, or of a list, in entries. */
  max?: number
  /** The pattern of a word or of each word of a list. */
  pattern?: RegExp
  /** The pattern in words. */
  rule?: string
  /** Suggested values. */
  known?: readonly string[]
  /** All allowed values. */
  values?: readonly string[]
  /**
   * Which request sets it: `state` is `PUT /cases/:id/state`; `both` adds `POST /cases` and `PUT /cases/:id`. If not
   * given, only those two set it.
   */
  setBy?: 'state' | 'both'
  /** False if the value is unknown when a case is created: `casefile new` and the form do not offer it. */
  whenNew?: boolean
  /** The command-line option that sets it, if there is one. */
  option?: string
  /** The filter's name in lists and searches. Rows of lists contain such fields. */
  filter?: string
  /** Whether case.md has the key even without a value. A key that is always there causes fewer merge conflicts. */
  alwaysWritten?: boolean
  /**
   * Whether it decides what a session runs. The start of a session checks it, so a file may contain any text. It is
   * never guessed from an unreadable file.
   */
  checkedAtStart?: boolean
  /** Whether the form for a new case shows it directly, not under "More". */
  isBasic?: boolean
  /** Shown if there is no value. */
  placeholder?: string
  /** Where the case page shows it; among the details if not given. */
  shownIn?: 'head' | 'state' | 'description'
}

/** In the order of the JSON. The order in the file is `FILE_KEYS`. */
export const CASE_FIELDS = {
  title: {
    kind: 'line',
    label: 'Title',
    about: 'The problem or request, summarized in one line',
    example: 'Signed out again right after signing in',
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
    example: 'Every token counts as expired the moment it is issued.',
    default: '',
    option: '-d, --description <text>',
    isBasic: true,
    shownIn: 'description',
  },
  state: {
    kind: 'word',
    label: 'State',
    about: 'The state of the case',
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
    about: 'Words for finding the case',
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
    example: '642fe51e-78f5-4e03-aad6-929a942a6fe9',
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
  isolation: {
    kind: 'word',
    label: 'Isolation',
    about:
      'Where its new sessions work: worktree: a separate copy of the files; none: the working folder',
    example: 'worktree',
    pattern: new RegExp(`^(?:${ISOLATIONS.join('|')})$`),
    rule: `one of ${ISOLATIONS.join(', ')}`,
    option: '--isolation <word>',
    checkedAtStart: true,
    placeholder: 'workspace default',
  },
  source: {
    kind: 'line',
    label: 'Source',
    about: 'Where it was imported from: a URL, or the tool and the id there',
    example: 'https://github.com/ada/shop/issues/12',
    max: 1000,
    whenNew: false,
    shownIn: 'head',
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

/** The names of the rows that match. */
type NamesWith<What> = { [N in CaseFieldName]: Rows[N] extends What ? N : never }[CaseFieldName]

/** The values of a case's fields. */
export type CaseValues = { [N in CaseFieldName]: ValueOf<Rows[N]> }
/** Fields to change. */
export type CaseFields = Partial<CaseValues>
/** The fields that `POST /cases` and `PUT /cases/:id` set. */
export type SettableFields = Partial<Omit<CaseValues, NamesWith<{ setBy: 'state' }>>>
/** The fields that rows of lists have. */
export type FilteredField = NamesWith<{ filter: string }>
export type FilterName = Rows[FilteredField]['filter']
/** The fields that are frontmatter keys. */
export type FrontmatterField = Exclude<CaseFieldName, NamesWith<{ kind: 'markdown' }>>

export type NamedField = CaseFieldRow & { name: CaseFieldName }

export const FIELD_LIST = Object.entries(CASE_FIELDS).map(([name, row]) =>
  Object.assign({ name: name as CaseFieldName }, row),
) as readonly NamedField[]

/** The fields that `POST /cases` and `PUT /cases/:id` set. */
export const SETTABLE = FIELD_LIST.filter(({ setBy }) => setBy !== 'state')
/** The fields offered when a case is created. */
export const NEW_CASE_FIELDS = SETTABLE.filter(({ whenNew }) => whenNew !== false)
/** The fields that lists show besides the title, and by which they are filtered. */
export const FILTERED = FIELD_LIST.filter(({ filter }) => filter !== undefined)
export const FILTER_NAMES = FILTERED.map(({ filter }) => filter) as readonly FilterName[]

/** The frontmatter keys of a case, in file order. */
export const FILE_KEYS = [
  ...new Set([
    'id',
    'title',
    'created_at',
    'state',
    ...FIELD_LIST.filter(({ kind }) => kind !== 'markdown').map(({ name }) => name),
  ]),
] as readonly ('id' | 'created_at' | FrontmatterField)[]

/**
 * The frontmatter keys whose values are words of a person, in which ` #` may be meant. Behind a word such as `state: OPEN`
 * it is a comment.
 */
export const TEXT_KEYS: ReadonlySet<string> = new Set([
  ...FIELD_LIST.filter(({ kind }) => kind === 'line' || kind === 'words').map(({ name }) => name),
  'outcome',
  'accepted', // of a proof
])

/** Returns the value of a field that a case does not have. */
export function emptyValue({ default: value }: CaseFieldRow): string | string[] | null {
  if (value === undefined) return null
  return typeof value === 'string' ? value : [...value]
}
