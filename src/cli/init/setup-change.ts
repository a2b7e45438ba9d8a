/** Changes the settings that `casefile init` asks for: agent, tests, signatures. */

import { join, relative } from 'node:path'
import { type Agent, agentsIn, proposedAgent } from '../../doctor/agents.ts'
import { isWithin } from '../../files/real-path.ts'
import { stampOf } from '../../files/safe-read.ts'
import { planHooks, usualChange } from '../../hook-settings/hook-change.ts'
import { shownByGit } from '../../hook-settings/shown-by-git.ts'
import { hooksReport } from '../../hook-settings/status.ts'
import { hookAgent } from '../../init/hook-agent.ts'
import { ALL_TESTS_PASS, createSetup } from '../../init/setup.ts'
import { ALLOWED_SIGNERS } from '../../model/approval-statement.ts'
import { OWN_PROVIDER, SETTINGS_FILE } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import { findTests } from '../../runners/project-tests.ts'
import { allStatuses, providerOf } from '../../sessions/providers.ts'
import { addSigner, planSigner } from '../../signing/allowed-signers.ts'
import { findSigningKey, keyName, ownSignerLine } from '../../signing/signing-key.ts'
import { layoutOf } from '../../workspace/layout.ts'
import { findPlaces, openPlaces } from '../../workspace/settings/places.ts'
import { ownTerminal } from '../output/terminal.ts'
import type { Found, SetupChoice } from './setup-questions.ts'

export interface Facts extends Found {
  /** Whether there is a casefile.md. */
  isConfigured: boolean
  provider: string
  proposed: Agent | null
}

/** What is known of the folder and the machine before anything is written. */
export async function findFacts(rootOption: string): Promise<Facts> {
  const places = await findPlaces({ root: rootOption }, process.env, ownTerminal().warn)
  const { root, memoryRoot } = places
  const present = await places.settings()
  const [statuses, tests, key, stamp] = await Promise.all([
    allStatuses({ ...places, environment: process.env, layout: layoutOf(root, memoryRoot) }),
    findTests(root, present),
    findSigningKey(root),
    stampOf(join(root, SETTINGS_FILE)),
  ])
  const agents = agentsIn(statuses)
  return {
    agents,
    provider: present.provider,
    proposed: proposedAgent(agents),
    tests,
    key: key && keyName(key),
    isConfigured: stamp !== null,
  }
}

/** What `changeSettings` would write, as lines. */
export async function plannedChanges(
  rootOption: string,
  { agent, inTerminal, tests, sign }: SetupChoice,
): Promise<string[]> {
  const places = await findPlaces({ root: rootOption }, process.env, ownTerminal().warn)
  const present = await places.settings()
  const lines: string[] = []
  const set = (line: string) => lines.push(`Set in ${SETTINGS_FILE}: ${line}`)
  const provider = agent === 'none' ? OWN_PROVIDER : agent
  if (provider !== undefined && provider !== present.provider) set(`provider: ${provider}`)
  if (tests === 'none') {
    if (present.tests !== null) lines.push(`Remove tests from ${SETTINGS_FILE}`)
  } else if (tests !== undefined && tests !== present.tests) set(`tests: ${tests}`)
  if (tests !== undefined && tests !== 'none' && present.checklist.length === 0) {
    set(`checklist: ${ALL_TESTS_PASS}, for new cases`)
  }
  if (sign === false && present.signApprovals) set('sign_approvals: false')
  if (sign) {
    if (!present.signApprovals) set('sign_approvals: true')
    lines.push(`Add your key to ${ALLOWED_SIGNERS}, if it is not there`)
  }
  if (inTerminal) lines.push(...(await plannedHooks(provider ?? present.provider, places)))
  return lines.map(visibleText)
}

async function plannedHooks(
  provider: string,
  { root, stateDir }: { root: string; stateDir: string },
): Promise<string[]> {
  const agent = hookAgent(provider)
  const places = { root, stateDir, environment: process.env }
  const change = await planHooks(usualChange(agent), places)
  if (change === null || change.before === change.after) return []
  const name = isWithin(root, change.path) ? relative(root, change.path) : change.path
  const file = change.before === null ? `${name}, a new file` : name
  return [
    `Add hooks to ${file}: they send ${agent.title}'s prompts, tool calls and plans to Casefile, and wait for its answer before each tool`,
  ]
}

/** What the person of new hooks has to know. */
export async function hookNotes(rootOption: string, provider: string): Promise<string[]> {
  const { root, stateDir } = await findPlaces({ root: rootOption }, process.env, ownTerminal().warn)
  const agent = hookAgent(provider)
  const places = { root, stateDir, environment: process.env }
  const change = await planHooks(usualChange(agent), places)
  const { hooks } = await hooksReport(places)
  const shown = change === null ? [] : await shownByGit(root, [change])
  return [
    ...shown.map(
      (name) =>
        `${name} names folders of this machine, so it is for you alone. Keep it out of git: add it to .gitignore`,
    ),
    ...hooks
      .filter((each) => each.agent === provider)
      .flatMap(({ warnings }) => warnings.map((each) => `${provider}: ${each}`)),
  ].map(visibleText)
}

/** Changes just the settings that the choice names. Returns what was written, as lines. */
export async function changeSettings(
  rootOption: string,
  { agent, inTerminal, tests, sign }: SetupChoice,
): Promise<string[]> {
  if ([agent, inTerminal, tests, sign].every((each) => each === undefined)) return []
  const places = await openPlaces({ root: rootOption }, process.env, ownTerminal().warn)
  const { root, memoryRoot } = places
  const line = sign ? await ownSignerLine(root) : null
  const { checklist, tests: present, signApprovals } = await places.settings()
  const command = tests === 'none' ? null : tests
  const proves = typeof command === 'string' && checklist.length === 0
  const setup = createSetup({
    ...places,
    layout: layoutOf(root, memoryRoot),
    environment: process.env,
    providers: { statuses: async () => [] },
  })
  const signers = line !== null && (await addSigner(root, line)) ? [ALLOWED_SIGNERS] : []
  const { wrote } = await setup.change({
    provider: agent === 'none' ? OWN_PROVIDER : agent,
    in_terminal: inTerminal,
    // none is not worth a line where nothing is set
    tests: command === null && present === null ? undefined : command,
    checklist: proves ? [ALL_TESTS_PASS] : undefined,
    sign_approvals: sign === signApprovals ? undefined : sign,
  })
  return [...signers, ...wrote].map((file) => `Wrote ${visibleText(file)}`)
}

/** Throws if the choice cannot be carried out, before anything is written. */
export async function requirePossible(
  rootOption: string,
  { agent, inTerminal, sign }: SetupChoice,
): Promise<void> {
  const places = await findPlaces({ root: rootOption }, process.env, ownTerminal().warn)
  const present = await places.settings()
  const provider = agent === 'none' ? OWN_PROVIDER : (agent ?? present.provider)
  if (agent !== undefined) providerOf(provider, present)
  if (inTerminal) hookAgent(provider)
  if (sign) await planSigner(places.root, await ownSignerLine(places.root))
}
