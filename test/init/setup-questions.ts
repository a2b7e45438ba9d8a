import t from 'tap'
import { askSetup, type Found } from '../../src/cli/init/setup-questions.ts'
import { type Agent, proposedAgent } from '../../src/doctor/agents.ts'
import type { SetupChoice } from '../../src/init/init-command.ts'

const agent = (id: string, status: Agent['status'], more: Partial<Agent> = {}): Agent => ({
  id,
  title: id.toUpperCase(),
  kind: 'command',
  status,
  version: null,
  advice: null,
  can_hook: true,
  ...more,
})
const NOTHING: Found = { agents: [], tests: null }

/** Answers in order; the dialog fails if one is missing, or left over. */
async function asked(found: Partial<Found>, answers: string[], given: SetupChoice = {}) {
  const facts = { ...NOTHING, ...found }
  const left = [...answers]
  let shown = ''
  const choice = await askSetup(given, facts, proposedAgent(facts.agents), {
    write(text) {
      shown += text
    },
    async ask(question) {
      shown += `${question}\n`
      const answer = left.shift()
      if (answer === undefined) throw new Error(`not expected: ${question}`)
      return answer
    },
  })
  return { choice, shown, left }
}

const claude = agent('claude', 'ready', { version: '2.1' })
const codex = agent('codex', 'not_logged_in', { advice: 'codex login' })
const gemini = agent('gemini', 'not_installed', { advice: 'npm install gemini' })

t.test('Enter takes what was found', async (t) => {
  const tests = { command: 'make test', source: 'Makefile' }
  const found = { agents: [claude, codex, gemini], tests }
  const { choice, shown, left } = await asked(found, ['', '', ''])
  t.strictSame(choice, { agent: 'claude', inTerminal: false, tests: 'make test' })
  t.strictSame(left, [])
  t.match(shown, /1\. ● CLAUDE 2\.1 \(found, logged in\)/)
  t.match(shown, /2\. ● CODEX \(found, not logged in: codex login\)/)
  t.match(shown, / {5}○ GEMINI \(not installed: npm install gemini\)/)
  t.match(shown, /Makefile has the tests: make test/)
})

t.test('every question has other answers', async (t) => {
  const found = { agents: [claude, codex] }
  const { choice, shown } = await asked(found, ['help', '9', '2', 'no', '2', 'npm run check'])
  t.match(shown, /^1, 2 or 3\? \[1\] \nAnswer with 1, 2 or 3, or a name \(claude, codex, none\)\./m)
  t.match(shown, /^1 or 2\? \[1\] \nAnswer with 1 or 2\. Enter takes 1\.$/m)
  t.match(shown, /for the case that is current here \(casefile agent use --help\)/)
  t.strictSame(choice, { agent: 'codex', inTerminal: true, tests: 'npm run check' })
})

t.test('a command that no setting can be is asked for again', async (t) => {
  const { choice, shown } = await asked({}, ['none', 'x'.repeat(1001), 'a\tb', 'make'])
  t.match(choice, { tests: 'make' })
  t.match(shown, /expected at most 1000 characters\.\n[\s\S]*expected one line without control/)
})

t.test('without an agent it asks for no place, and proposes none', async (t) => {
  const { choice } = await asked({ agents: [gemini] }, ['', ''])
  t.match(choice, { agent: 'none', tests: 'none' })
  t.equal(choice.inTerminal, undefined)
})

t.test('what the options say is not asked', async (t) => {
  const given = { agent: 'claude', inTerminal: true, tests: 'x' }
  t.strictSame((await asked({ agents: [claude] }, [], given)).choice, given)
})

t.test('with two agents that are ready, none is proposed', async (t) => {
  const two = [claude, agent('copilot', 'ready')]
  t.equal(proposedAgent(two), null)
  t.match((await asked({ agents: two }, ['', ''])).choice, { agent: 'none' })
})
