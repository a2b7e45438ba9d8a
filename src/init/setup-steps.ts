/** The steps of the setup that change the settings of an agent, and who may sign. */

import { join } from 'node:path'
import { ALLOWED_SIGNERS } from '../model/approval-statement.ts'
import { visibleText } from '../model/visible-text.ts'
import type { AgentHooks } from '../runners/agents/install/agent-hooks.ts'
import { planHooks, usualChange, writeHooks } from '../runners/agents/install/hook-change.ts'
import { hookFiles } from '../runners/agents/install/hook-files.ts'
import type { HookFolders } from '../runners/agents/install/service-hooks.ts'
import { shownByGit } from '../runners/agents/install/shown-by-git.ts'
import { hooksReport } from '../runners/agents/install/status.ts'
import type { TrustFile } from '../settings/trust-file.ts'
import { planSigner, writeSigner } from '../signing/allowed-signers.ts'
import { ownSignerLine } from '../signing/signing-key.ts'
import { checkStateFolder, openStateFolder } from '../state/state-folder.ts'
import { type Step, shownPath } from './steps.ts'

/** Adds the operator's key to `allowed_signers`; null if it is there. Throws without a key that may sign. */
export async function signerStep(root: string): Promise<Step | null> {
  const edit = await planSigner(root, await ownSignerLine(root))
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

export interface AgentHookFolders extends HookFolders {
  memoryRoot: string
  trust: TrustFile
}

/** Installs the hooks of an agent that the operator starts. Also if nothing changes: the script may be older. */
export async function agentHooksStep(agent: AgentHooks, places: AgentHookFolders): Promise<Step> {
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

/** What the person of new hooks has to know. `path`: of settings for this machine alone. */
async function hookNotes(
  agent: AgentHooks,
  path: string | null,
  places: HookFolders,
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
