/** The steps that change settings: of the workspace, of an agent, and who may sign. */

import { join } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { ALLOWED_SIGNERS } from '../model/approval-statement.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import type { AgentHooks } from '../runners/agents/install/agent-hooks.ts'
import {
  planHooks,
  planRemovals,
  usualChange,
  writeHooks,
} from '../runners/agents/install/hook-change.ts'
import { hookFiles } from '../runners/agents/install/hook-files.ts'
import type { HookPlaces } from '../runners/agents/install/service-hooks.ts'
import { shownByGit } from '../runners/agents/install/shown-by-git.ts'
import { hooksReport } from '../runners/agents/install/status.ts'
import { type SettingsEdit, writeSettings } from '../settings/change-settings.ts'
import type { TrustFile } from '../settings/trust-file.ts'
import { planSigner, writeSigner } from '../signing/allowed-signers.ts'
import { ownSignerLine } from '../signing/signing-key.ts'
import { checkStateFolder, openStateFolder } from '../state/state-folder.ts'
import { type Step, shownPath } from './steps.ts'

/** Adds the operator's key to `allowed_signers`; null if it is there. Throws without a key that may sign. */
export async function signerStep(root: string): Promise<Step | null> {
  const edit = await ownSignerLine(root)
    .then((line) => planSigner(root, line))
    .catch(nameOption)
  if (edit.after === null) return null
  return {
    planned: [`Add your key to ${ALLOWED_SIGNERS}`],
    files: [{ path: join(root, ALLOWED_SIGNERS), bytes: edit.after }],
    async write() {
      await writeSigner(root, edit)
      return [`Added your key to ${ALLOWED_SIGNERS}`]
    },
  }
}

function nameOption(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'bad_request') throw error
  const { message } = error
  throw new AppError('bad_request', message, { errors: [{ path: 'sign_approvals', message }] })
}

/** Writes casefile.md; null if it stays as it is. `lines` say what is set. */
export function settingsStep(
  root: string,
  edit: SettingsEdit,
  lines: { planned: readonly string[]; done: readonly string[] },
): Step | null {
  if (edit.before === edit.after) return null
  const [create, created] =
    edit.before === null
      ? [
          [`Create ${SETTINGS_FILE} with all settings as comments`],
          [`Created ${SETTINGS_FILE} with all settings as comments`],
        ]
      : [[], []]
  return {
    planned: [...create, ...lines.planned],
    files: [{ path: join(root, SETTINGS_FILE), bytes: Buffer.from(edit.after) }],
    async write() {
      await writeSettings(root, edit)
      return [...created, ...lines.done]
    },
  }
}

export interface AgentHookPlaces extends HookPlaces {
  memoryRoot: string
  trust: TrustFile
}

/** Installs the hooks of an agent that the operator starts. Also if nothing changes: the script may be older. */
export async function agentHooksStep(agent: AgentHooks, places: AgentHookPlaces): Promise<Step> {
  const { root, memoryRoot, stateDir, trust } = places
  const change = (await planHooks(usualChange(agent), places))!
  const { before, after, path, realPath, place } = change
  // trust in a file of the workspace is not kept in a state folder that is inside of it
  const outside = place === 'user' ? { memoryRoot } : { memoryRoot, workspaceRoot: root }
  await checkStateFolder(stateDir, outside)
  const isChanged = before !== after && after !== null
  const name = shownPath(root, path)
  const file = before === null ? `${name}, a new file` : name
  return {
    planned: isChanged
      ? [
          `Add hooks to ${file}: they send ${agent.title}'s prompts, tool calls and plans to Casefile, and wait for its answer before each tool`,
        ].map(visibleText)
      : [],
    files: isChanged ? [{ path, bytes: Buffer.from(after) }] : [],
    places: [...(isChanged ? [realPath] : []), hookFiles(stateDir).script],
    async write() {
      await openStateFolder(stateDir, { memoryRoot })
      await writeHooks([change], places, { trust, script: true })
      const notes = await hookNotes(agent, place === 'local' ? path : null, places)
      return [...(isChanged ? [`Wrote ${name}`] : []), ...notes].map(visibleText)
    },
  }
}

/** Takes the hooks of these agents out of every place that has them. */
export async function hookRemovalSteps(
  agents: readonly AgentHooks[],
  places: HookPlaces & { trust: TrustFile },
): Promise<Step[]> {
  const changes = []
  for (const agent of agents) changes.push(...(await planRemovals(agent, places)))
  return changes.map((change) => ({
    planned: [],
    files: [{ path: change.path, bytes: change.after === null ? null : Buffer.from(change.after) }],
    places: [change.realPath],
    async write() {
      await writeHooks([change], places, { trust: places.trust, script: false })
      return []
    },
  }))
}

/** What the person of new hooks has to know. `path`: of settings for this machine alone. */
async function hookNotes(
  agent: AgentHooks,
  path: string | null,
  places: HookPlaces,
): Promise<string[]> {
  const shown = path === null ? [] : await shownByGit(places.root, [{ place: 'local', path }])
  const { hooks } = await hooksReport(places)
  return [
    ...shown.map(
      (name) =>
        `${name} names folders of this machine, so it is for you alone. Keep it out of git: add it to .gitignore`,
    ),
    ...hooks
      .filter((each) => each.agent === agent.id)
      .flatMap(({ warnings }) => warnings.map((each) => `${agent.id}: ${each}`)),
  ]
}
