import { setTimeout as delay } from 'node:timers/promises'
import { decodeUtf8 } from '../files/safe-read.ts'
import { CASE_FILE } from '../markdown/case-file.ts'
import { newestHistory } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, shownState } from '../model/case-contents.ts'
import type { CaseState, SessionType } from '../model/case-state.ts'
import type { FailedTest } from '../model/failed-test.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { RUNBOOK_FILE } from '../model/memory-name.ts'
import { countsAsVerified } from '../model/proof.ts'
import { acceptedDespite, objectionTo } from '../model/proof-objections.ts'
import type { Session } from '../model/session.ts'
import { hasEnded } from '../model/session-state.ts'
import type { Settings } from '../model/settings.ts'
import { lastOf } from '../model/trail.ts'
import { findTests } from '../runners/project-tests.ts'
import { testsStep } from '../runners/runbook-plan.ts'
import type { Search } from '../search/search.ts'
import {
  type ProjectInstructions,
  readProjectInstructions,
} from '../settings/project-instructions.ts'
import { historyOf } from '../workspace/history-append.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import { MAX_MEMORY_BYTES, readMemory } from '../workspace/memory-files.ts'
import { listMemory } from '../workspace/memory-list.ts'
import type { SessionDeps } from './deps.ts'
import type { Provider } from './providers.ts'

/** Everything that goes into a prompt. Texts may have any length. */
export interface PromptContext {
  case: { id: string; title: string; type: string; state: string; description: string }
  checklist: readonly string[]
  /** How the project's tests are run, and a step that does it; null if it is not known. */
  tests: { command: string; step: string } | null
  type: SessionType
  /** The case's notes by name, most useful first. */
  notes: readonly { name: string; text: string }[]
  /** Earlier sessions of the case, newest first. */
  earlier: readonly EarlierSession[]
  /** Resolved cases that resemble this one, most similar first. */
  similar: readonly SimilarCase[]
  /** The body of casefile.md. */
  instructions: string
  /** Instruction files of the project that the agent cannot read by itself. */
  projectInstructions: readonly ProjectInstructions[]
}

export type SimilarCase = Pick<
  ResolvedCase,
  'id' | 'title' | 'outcome' | 'reason' | 'cause' | 'proof'
>

export interface EarlierSession {
  number: number
  /** How it ended, in one sentence. */
  outcome: string
  hypothesis: string
  plan: string
  output: string
  failedTests: readonly FailedTest[]
}

/** The newest sessions are enough; older ones add little. */
const EARLIER_SESSIONS = 8
const SIMILAR_CASES = 3
/** However old they are. */
const ALWAYS_READ = [CASE_FILE, HISTORY_FILE, RUNBOOK_FILE]
/** The newest history entries, and every question with its answer, fit into this. */
const MAX_HISTORY_BYTES = 8 * 1024

/** Of more notes, those that changed last. A prompt has no room for so many. */
const MAX_NOTES = 100

/** The case.md and notes of a case by name, most recently changed first. */
export async function memoryOf(
  deps: Pick<SessionDeps, 'layout' | 'catalog'>,
  contents: CaseContents,
): Promise<Map<string, string>> {
  const { layout } = deps
  const texts = new Map<string, string>()
  const listed = await listMemory(deps, contents)
  const byAge = listed
    .filter(({ kind, size }) => kind !== 'session' && size <= MAX_MEMORY_BYTES)
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    .filter(({ filename }, index) => index < MAX_NOTES || ALWAYS_READ.includes(filename))
  for (const { filename, kind } of byAge) {
    if (filename === HISTORY_FILE) {
      const entries = await historyOf(layout, contents.case.id)
      if (entries) texts.set(filename, newestHistory(entries, MAX_HISTORY_BYTES))
      continue
    }
    const name = kind === 'case' ? ({ kind } as const) : ({ kind: 'notes', filename } as const)
    const read = await readMemory(layout, contents.case.id, name)
    const text = read.ok ? decodeUtf8(read.bytes) : null
    if (text?.ok) texts.set(filename, text.text)
  }
  return texts
}

type ContextDeps = SimilarCaseDeps & Pick<SessionDeps, 'redactor' | 'log' | 'layout' | 'limits'>

interface ContextParts {
  memory: ReadonlyMap<string, string>
  settings: Pick<Settings, 'instructions' | 'tests'>
  /** The folder to search for the project's own instructions, such as AGENTS.md. */
  workdir: string
  provider: Pick<Provider, 'spec'>
}

/** Everything a prompt says about a case. */
export async function promptContext(
  deps: ContextDeps,
  contents: CaseContents,
  session: Pick<Session, 'number' | 'type'>,
  { memory, settings, workdir, provider }: ContextParts,
): Promise<PromptContext> {
  const { id, title, type, description, checklist } = contents.case
  const earlier: EarlierSession[] = []
  const ended = contents.sessions.filter(
    (each) => each.number < session.number && hasEnded(each.state),
  )
  for (const each of ended.reverse().slice(0, EARLIER_SESSIONS)) {
    earlier.push(await earlierSession(deps, id, each))
  }
  const notes = [...memory].filter(([name]) => name !== 'case.md')
  const tests = await findTests(workdir, settings)
  const context: PromptContext = {
    case: { id, title, type, state: shownState(contents), description },
    checklist: checklist.map(
      (item) =>
        `- ${item.description}${item.type ? ` (${item.type}${item.required ? ', required' : ''})` : ''}`,
    ),
    tests: tests && { command: tests.command, step: testsStep(tests) },
    type: session.type,
    notes: notes.map(([name, text]) => ({ name, text })),
    earlier,
    similar: await similarOf(deps, id),
    instructions: settings.instructions,
    projectInstructions: await readProjectInstructions(
      { root: deps.layout.root, folder: workdir },
      provider.spec?.instructions ?? [],
    ),
  }
  // before texts are cut: `[redacted NAME]` may be longer than the secret
  return deps.redactor.value(context)
}

/** The similar cases, or none if the search fails or takes too long: planning goes on without them. */
async function similarOf(deps: ContextDeps, id: string): Promise<ResolvedCase[]> {
  const waitMs = deps.limits.similarCases
  const enough = new AbortController()
  const { signal } = enough
  try {
    return await Promise.race([
      similarResolvedCases(deps, id, SIMILAR_CASES),
      delay(waitMs, null, { signal }).then(() => {
        throw new Error(`the index took more than ${waitMs / 1000} s`)
      }),
    ])
  } catch (error) {
    deps.log(`could not search for similar cases, so the agent gets none: ${String(error)}`)
    return []
  } finally {
    enough.abort()
  }
}

async function earlierSession(
  deps: Pick<SessionDeps, 'sessionTexts'>,
  caseId: string,
  session: Session,
): Promise<EarlierSession> {
  const { number } = session
  const outcome = outcomeOf(session)
  const failedTests = session.failed_tests
  try {
    const { hypothesis, plan, output } = await deps.sessionTexts(caseId, session)
    return { number, outcome, hypothesis, plan, output, failedTests }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { number, outcome, hypothesis: '', plan: '', output: '', failedTests } // broken by hand just now
  }
}

function outcomeOf({ type, provider, state, tests, diff, trail }: Session): string {
  const reason = lastOf(trail, 'session_state_changed')?.fields.reason
  const parts = [
    `Type ${type}, run by ${provider}: ${state}.`,
    typeof reason === 'string' ? reason : '',
    tests ? `Tests: ${tests.passed} of ${tests.run} passed, ${tests.failed} failed.` : '',
    diff ? `Changed: ${diff.file || 'nothing'} (+${diff.additions} -${diff.deletions}).` : '',
  ]
  return parts.filter((part) => part !== '').join(' ')
}

/** A resolved case that resembles another one. */
export interface ResolvedCase {
  id: string
  title: string
  type: string
  state: CaseState
  outcome: string | null
  /** Why it was resolved, in the operator's words. */
  reason: string | null
  /** Its cause, from the hypothesis of its last complete session. */
  cause: string | null
  /** Its valid proofs. `accepted_despite`: the objection to one that the operator accepted with a reason. */
  proof: {
    id: string
    type: string
    verified_at: string | null
    accepted: string | null
    accepted_despite: string | null
  }[]
  /** 1 for a case that has all the words of this one. */
  score: number
  /** Some of the shared words. */
  words: string[]
}

interface SimilarCaseDeps extends Pick<SessionDeps, 'sessionTexts'> {
  catalog: Pick<Catalog, 'folder'>
  search: Pick<Search, 'similar'>
}

/** Longer texts are cut to this length. */
const MAX_CAUSE = 600

/** The resolved cases that resemble this one, most similar first, with what was learned from each. */
export async function similarResolvedCases(
  deps: SimilarCaseDeps,
  id: string,
  limit: number,
): Promise<ResolvedCase[]> {
  const similar = await deps.search.similar(id, limit)
  const found: ResolvedCase[] = []
  for (const { id, score, words } of similar) {
    const contents = deps.catalog.folder(id)
    if (!contents) continue // deleted meanwhile
    const { title, type, outcome, reason } = contents.case
    found.push({
      id,
      title,
      type,
      state: 'RESOLVED',
      outcome,
      reason,
      cause: await causeOf(deps, contents),
      proof: contents.proofs
        .filter((proof) => countsAsVerified(proof) && !objectionTo(proof, contents.sessions))
        .map((proof) => ({
          id: proof.id,
          type: proof.type,
          verified_at: proof.verified_at,
          accepted: proof.accepted,
          accepted_despite: acceptedDespite(proof, contents.sessions),
        })),
      score,
      words,
    })
  }
  return found
}

async function causeOf(deps: SimilarCaseDeps, { case: of, sessions }: CaseContents) {
  for (const session of sessions.filter(({ state }) => state === 'complete').reverse()) {
    const text = await hypothesisOf(deps, of.id, session)
    if (text !== '')
      return text.length > MAX_CAUSE ? `${text.slice(0, MAX_CAUSE).toWellFormed()}…` : text
  }
  return null
}

async function hypothesisOf(deps: SimilarCaseDeps, id: string, session: Session): Promise<string> {
  try {
    return (await deps.sessionTexts(id, session)).hypothesis.trim()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return '' // broken by hand just now
  }
}
