import { dirname, join } from 'node:path'
import { SERVER_SECRET } from '../hooks/hook-script.ts'
import { fileAgent } from '../install/agent-hooks.ts'
import { denialReason, type HookTarget } from '../install/hook-command.ts'
import { opencodeFolder } from './home.ts'

const MARK = '// The plugin of Casefile for opencode.'

/** opencode has no hooks that start programs, but plugins, which it loads without a question. */
export const opencodeHooks = fileAgent(
  'opencode',
  {
    files: {
      local: ({ root }) => join(root, '.opencode', 'plugins', 'casefile.js'),
      user: ({ environment, key }) =>
        join(opencodeFolder(environment, 'config'), 'plugins', `casefile-${key}.js`),
    },
    failsOpen: 'if its plugin is not loaded',
    trial: {
      writes: (filePath) => ['write', { filePath, content: '' }],
      reads: (filePath) => ['read', { filePath }],
      shellTool: 'bash',
      mcpTool: 'test_write',
      shell: null,
    },
  },
  { textOf: pluginText, isOwn: (text) => text.startsWith(MARK) },
)

/**
 * It sends what happens in the words of Claude Code. A tool is denied by an error, so an error of the plugin denies
 * too. The limit of a plan's decision is the service's.
 */
function pluginText(target: HookTarget): string {
  const { root, script, isUser, isStrict } = target
  return `${MARK} casefile agent install writes it, casefile agent remove removes it.
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const root = ${JSON.stringify(root)}
const urlFile = ${JSON.stringify(join(dirname(script), 'url'))}
const isForAllProjects = ${isUser}
const isStrict = ${isStrict}
const noAnswer = ${JSON.stringify(denialReason(target))}

export const Casefile = async ({ client, directory }) => {
  // the service has started this agent, and gates it in its own way
  if (process.env.CASEFILE_RUN) return {}
  if (isForAllProjects && !isInWorkspace(directory)) return {}
  const contexts = new Map()
  const models = new Map()
  const modes = new Map()
  /** By conversation: the tokens of each message. */
  const used = new Map()
  /** Conversations whose last stop was blocked. */
  const blocked = new Set()

  /** The answer to an event; null for no opinion. Throws if nothing answers. */
  async function send(session, event, more, signal) {
    const headers = { 'content-type': 'application/json', 'x-casefile-pid': String(process.pid) }
    headers['x-casefile-root'] = Buffer.from(root).toString('latin1')
    if (process.env.CASEFILE_CASE) headers['x-casefile-case'] = process.env.CASEFILE_CASE
    if (isStrict || process.env.CASEFILE_STRICT) headers['x-casefile-strict'] = '1'
    const body = { session_id: session, cwd: directory, hook_event_name: event, ...more }
    Object.assign(body, { model: models.get(session), permission_mode: modes.get(session), usage: usage(session) })
    const told = (name) => readFileSync(join(dirname(urlFile), name), 'utf8').trim()
    const [pid, secret] = told('service').split(' ')
    if (!secret || !isAlive(Number(pid))) throw noService()
    const [name, value] = told('headers').split(': ')
    headers[name] = value
    const url = told('url') + '/hooks/opencode'
    const sent = { method: 'POST', headers, body: JSON.stringify(body), signal, timeout: false, redirect: 'error' }
    const response = await fetch(url, sent)
    if (!response.ok) throw new Error('status ' + response.status)
    // another program may have the port of a service that was killed
    if (response.headers.get(${JSON.stringify(SERVER_SECRET)}) !== secret) throw noService()
    const text = await response.text()
    const answer = text === '' ? null : JSON.parse(text)
    const message = answer?.systemMessage
    if (message) void client.tui.showToast({ body: { message, variant: 'info', duration: 15000 } }).catch(() => {})
    return answer
  }

  function note({ id, sessionID, role, tokens }) {
    if (role !== 'assistant' || !tokens) return
    if (!used.has(sessionID)) used.set(sessionID, new Map())
    const { input = 0, output = 0, reasoning = 0, cache = {} } = tokens
    const { read = 0, write = 0 } = cache
    used.get(sessionID).set(id, [input + read + write, output + reasoning, read])
  }

  function usage(session) {
    const all = [...(used.get(session)?.values() ?? [])]
    if (all.length === 0) return undefined
    const sum = (at) => all.reduce((total, counts) => total + counts[at], 0)
    return { input_tokens: sum(0), output_tokens: sum(1), cached_tokens: sum(2) }
  }
  const tell = (session, event, more = {}) =>
    send(session, event, more, AbortSignal.timeout(5000)).catch(() => null)

  async function begin(session) {
    if (contexts.has(session)) return
    contexts.set(session, null)
    const answer = await tell(session, 'SessionStart', { source: 'startup' })
    contexts.set(session, answer?.hookSpecificOutput?.additionalContext ?? null)
  }

  /** Waits for the decision, also while the service restarts. */
  async function decision(session, plan, signal) {
    for (let wasHeard = false; ; ) {
      try {
        const more = { tool_name: 'ExitPlanMode', tool_input: { plan } }
        return await send(session, 'PermissionRequest', more, signal)
      } catch (error) {
        if (signal?.aborted) throw error
        wasHeard ||= error?.code !== 'ConnectionRefused' && error?.code !== 'ENOENT'
        if (!wasHeard) throw new Error(noAnswer)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }

  async function submitPlan({ plan }, { sessionID, abort }) {
    const answer = await decision(sessionID, plan, abort)
    const decided = answer?.hookSpecificOutput?.decision
    if (!decided) return 'Casefile has no opinion on the plan: this conversation belongs to no case.'
    if (decided.behavior !== 'allow') return decided.message
    await tell(sessionID, 'PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan: decided.updatedInput.plan } })
    return 'The operator approved this plan. Carry it out:\\n\\n' + decided.updatedInput.plan
  }

  const hooks = {
    'chat.message': async ({ sessionID, model, agent }, { parts }) => {
      if (model) models.set(sessionID, model.providerID + '/' + model.modelID)
      modes.set(sessionID, agent)
      await begin(sessionID)
      const prompt = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const answer = await tell(sessionID, 'UserPromptSubmit', { prompt })
      const context = answer?.hookSpecificOutput?.additionalContext
      if (context) contexts.set(sessionID, [contexts.get(sessionID), context].filter(Boolean).join('\\n\\n'))
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      const context = contexts.get(sessionID)
      if (context) output.system.push(context)
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      await begin(sessionID)
      const more = { tool_name: tool, tool_input: args, tool_use_id: callID }
      let answer
      try {
        answer = await send(sessionID, 'PreToolUse', more, AbortSignal.timeout(5000))
      } catch {
        throw new Error(noAnswer)
      }
      const output = answer?.hookSpecificOutput
      if (output && output.permissionDecision !== 'allow') throw new Error(output.permissionDecisionReason ?? noAnswer)
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }) => {
      void tell(sessionID, 'PostToolUse', { tool_name: tool, tool_input: args ?? {}, tool_use_id: callID })
    },
    event: async ({ event }) => {
      if (event.type === 'message.updated') note(event.properties.info)
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === 'session.deleted') await tell(session, 'SessionEnd')
      if (event.type !== 'session.idle' || !contexts.has(session)) return
      const stop_hook_active = blocked.delete(session)
      const answer = await send(session, 'Stop', { stop_hook_active }).catch(() => null)
      if (answer?.decision !== 'block') return
      blocked.add(session)
      const parts = [{ type: 'text', text: answer.reason }]
      void client.session.prompt({ path: { id: session }, body: { parts } }).catch(() => {})
    },
  }
  try {
    const { tool } = await import('@opencode-ai/plugin')
    const plan = tool.schema.string().describe('The whole plan, in markdown.')
    const description =
      'Hands in a plan for approval in Casefile, and waits for the decision. Call it before you change anything.'
    hooks.tool = { submit_plan: tool({ description, args: { plan }, execute: submitPlan }) }
  } catch {
    // without its package a plan can only come by MCP
  }
  return hooks
}

const noService = () => Object.assign(new Error(noAnswer), { code: 'ENOENT' })

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function isInWorkspace(directory) {
  let folder = realpathSync(directory)
  if (folder === root || folder.startsWith(root + sep)) return true
  for (;;) {
    const named = read(join(folder, '.git'))
    if (named !== null) return named.startsWith('gitdir: ' + join(gitFolder(), 'worktrees') + sep)
    if (folder === dirname(folder)) return false
    folder = dirname(folder)
  }
}

/** The git folder that the worktrees of the workspace share. */
function gitFolder() {
  for (let folder = root; ; folder = dirname(folder)) {
    const named = read(join(folder, '.git'))
    if (named === '') return join(folder, '.git')
    if (named !== null) return named.trim().replace(/^gitdir: /, '').replace(/\\/worktrees\\/[^/]+$/, '')
    if (folder === dirname(folder)) return join(root, '.git')
  }
}

/** The text of a file, empty for a folder, null if there is none. */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return error.code === 'EISDIR' ? '' : null
  }
}
`
}
