/** What holds for each agent's hooks now: what their last test saw, if it still counts. */

import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programStamp } from '../../../files/program-file.ts'
import { readRegular } from '../../../files/safe-read.ts'
import type { Conversation } from '../../../model/conversation.ts'
import { isUngated } from '../../../model/ungated-conversation.ts'
import { stateFolders } from '../../../state/state-folder.ts'
import { findProgram } from '../../process/find-program.ts'
import { agentVersion, unseenNote } from '../agent-version.ts'
import { KNOWN_AGENTS } from '../registry.ts'
import type { Obstacle } from './agent-hooks.ts'
import { hookFiles } from './hook-files.ts'
import { type HookFolders, setVariables } from './service-hooks.ts'
import { type HookStatus, type HooksReport, hooksReport } from './status.ts'
import { createTestedHooks, type TestedHooks } from './tested-hooks.ts'
import type { TrialLevel } from './trial.ts'

export type HookLevel = TrialLevel | Obstacle['level'] | 'not_heard' | 'untested' | 'not_installed'

/** The hooks of one settings file, with what holds for them. */
export interface LeveledHooks extends HookStatus {
  level: HookLevel
  /** Continues the word of the level; empty if there is no more to say. */
  reason: string
  /** Null if its test does not count any more, or there was none. */
  tested_at: string | null
  /** The agent's; null if its program was not found or says none. */
  version: string | null
  /** That our own tests have not run with this version; null if they have. */
  version_note: string | null
}

export interface LeveledReport extends HooksReport {
  hooks: LeveledHooks[]
}

export type HeardConversation = Pick<
  Conversation,
  'agent' | 'case_id' | 'is_gated' | 'started_at' | 'last_heard_at' | 'ended_at' | 'prompts'
>

/** `heard`: the conversations that the service knows; empty if none runs. */
export async function leveledReport(
  places: HookFolders,
  heard: readonly HeardConversation[],
): Promise<LeveledReport> {
  const [report, script_sha256] = await Promise.all([hooksReport(places), hashOfScripts(places)])
  const records = createTestedHooks(places.stateDir)
  const hooks = await Promise.all(
    report.hooks.map(async (status): Promise<LeveledHooks> => {
      const tested = await records.read(status.file)
      const { program, version, version_note } = await findAgent(status.agent, places, tested)
      const newest = heard
        .filter(({ agent }) => agent === status.agent)
        // without a case nothing is denied, however the hooks are
        .filter(({ case_id, last_heard_at }) => case_id !== null || last_heard_at === null)
        .reduce<HeardConversation | null>(
          (a, b) => (a !== null && a.started_at > b.started_at ? a : b),
          null,
        )
      const change = tested && whatChanged(tested, { ...status, script_sha256, program, version })
      const found = levelOf(status, tested, { change, newest })
      const tested_at = tested && change === null ? tested.tested_at : null
      return { ...status, ...found, tested_at, version, version_note }
    }),
  )
  return { ...report, hooks }
}

function levelOf(
  { installed, obstacle, warnings }: HookStatus,
  tested: TestedHooks | null,
  { change, newest }: { change: string | null; newest: HeardConversation | null },
): Pick<LeveledHooks, 'level' | 'reason'> {
  if (installed === 'unreadable') return { level: 'not_installed', reason: warnings.join(' ') }
  if (obstacle !== null) return obstacle
  if (tested === null) return { level: 'untested', reason: 'yet' }
  if (change !== null) return { level: 'untested', reason: `since ${change}` }
  const { level, reason, tested_at } = tested
  const isSilent = newest !== null && newest.started_at > tested_at && isUngated(newest)
  if (level !== 'gated' || !isSilent) return { level, reason }
  return { level: 'not_heard', reason: `since ${newest.last_heard_at ?? newest.started_at}` }
}

type Tried = Pick<TestedHooks, 'script_sha256' | 'program' | 'version'> & {
  hooks_sha256: string | null
}

function whatChanged(tested: TestedHooks, now: Tried): string | null {
  if (tested.hooks_sha256 !== now.hooks_sha256) return 'its hooks changed'
  if (tested.script_sha256 !== now.script_sha256) return "Casefile's script changed"
  // a service may have another PATH than the terminal
  if (now.program === null || now.program === tested.program) return null
  if (tested.version !== null && tested.version === now.version) return null
  return `its program changed (${tested.version ?? 'unknown'}, now ${now.version ?? 'unknown'})`
}

interface FoundAgent {
  program: string | null
  version: string | null
  version_note: string | null
}

/** Its program and version. A program that is the tested one is not asked again. */
export async function findAgent(
  id: string,
  { root, environment }: HookFolders,
  tested: Pick<TestedHooks, 'program' | 'version'> | null,
): Promise<FoundAgent> {
  const spec = KNOWN_AGENTS.find((each) => each.id === id)!
  const path = await findProgram(spec.program, { path: environment.PATH, cwd: root })
  if (path === null) return { program: null, version: null, version_note: null }
  const program = await programStamp(path)
  // not in the workspace, whose files may be settings of the program
  const asked = async () =>
    (await agentVersion(spec, { path, cwd: tmpdir(), env: setVariables(environment) })).version
  const version = tested?.program === program ? tested.version : await asked()
  return { program, version, version_note: unseenNote(spec, version) }
}

/** Of what the lines in the settings run. */
export async function hashOfScripts({ stateDir, environment }: HookFolders): Promise<string> {
  const hash = createHash('sha256')
  for (const path of [hookFiles(stateDir).script, join(stateFolders(environment), 'hook')]) {
    const read = await readRegular(path, { maxBytes: MAX_BYTES })
    hash.update(read.ok ? read.bytes : '').update('\0')
  }
  return hash.digest('hex')
}

const MAX_BYTES = 1024 * 1024
