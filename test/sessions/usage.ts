import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { usageTotal } from '../../src/model/usage.ts'
import { inLongLane } from '../fixtures/full.ts'
import { plannedBy, program } from '../fixtures/plain-agents.ts'
import { finished, must, stream } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

/**
 * Codex as it counts: a conversation from its beginning, also where it is resumed. Each answer of its model used
 * 1200 tokens, of which 200 came from a cache, and wrote 30.
 */
const CODEX = `#!/bin/sh
[ "$1" = --version ] && echo codex-cli 0.169.0 && exit
cat > /dev/null
count=$(dirname "$0")/count
case "$*" in
  *resume*) n=$(($(cat "$count") + 1)) ;;
  *) n=1 ;;
esac
echo $n > "$count"
echo '{"type":"thread.started","thread_id":"thread-1"}'
printf '{"type":"item.completed","item":{"type":"agent_message","text":"## Hypothesis\\\\n\\\\nh\\\\n\\\\n## Plan\\\\n\\\\n1. Look, %s"}}\\n' $n
echo '{"type":"turn.completed","usage":{"input_tokens":'$((n * 1200))',"cached_input_tokens":'$((n * 200))',"output_tokens":'$((n * 30))'}}'
`
/** Claude Code, which says a cost; the last thing that it says is not always there. */
const CLAUDE = `#!/bin/sh
[ "$1" = --version ] && echo '2.1.330 (Claude Code)' && exit
cat > /dev/null
echo '{"type":"system","subtype":"init","session_id":"c","model":"<opus>"}'
[ -e "$(dirname "$0")/dies" ] && exit 1
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"result":"## Plan\\n\\n1. One","modelUsage":{"<opus>":{"inputTokens":5,"outputTokens":6,"cacheReadInputTokens":7,"cacheCreationInputTokens":8,"costUSD":0.25}}}'
`

async function text(path: string): Promise<string> {
  const { text } = await service.request('GET', path, undefined, { accept: 'text/html' })
  return text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

const tokens = (answers: number) => ({
  input_tokens: answers * 1200,
  output_tokens: answers * 30,
  cached_tokens: answers * 200,
})

const environment = { ...process.env }
const service = await openTestService(t, {
  mount: false,
  files: { 'code.txt': 'one\n' },
  environment,
})
const bin = join(service.stateDir, '..', 'bin')
program(bin, 'codex', CODEX)
program(bin, 'claude', CLAUDE)
environment.PATH = `${bin}:${environment.PATH}`

t.test('what each run used, and all of them', inLongLane, async (t) => {
  const { ref, session } = await plannedBy(service, 'codex')
  const none = { model: null, cost_usd: null }
  t.match(session.usage, [{ mode: 'plan', ...tokens(1), ...none }])

  await must(service, 'POST', `${ref.path}/revise`, { note: 'again' })
  const events = await stream(service, ref)
  const isUsage = ({ event, data }: { event: string; data: string }) =>
    event === 'agent_usage' && JSON.parse(data).payload.mode === 'work'
  let plans = 0
  await events.next(
    ({ data }) => JSON.parse(data).payload.new_state === 'plan_ready' && ++plans === 2,
  )
  const { session: ended } = await finished(service, ref)
  t.equal(ended.state, 'complete')
  t.match(ended.usage, [
    { mode: 'plan', ...tokens(1), ...none },
    // of the same conversation: without what the first one used
    { mode: 'plan', ...tokens(1), ...none },
    { mode: 'work', ...tokens(1), ...none },
  ])
  t.equal(ended.usage.length, 3)
  const total = { runs: 3, ...tokens(3), cost_usd: null, incomplete: false }
  t.strictSame(usageTotal(ended.usage), total)
  const { payload } = JSON.parse((await events.next(isUsage)).data)
  events.close()
  t.match(payload, { session_id: ref.id, mode: 'work', ...tokens(1), cost_usd: null })

  const file = service.file(ref.case_id, 'sessions', '1.md')
  const written = readFileSync(file, 'utf8')
  t.equal(written.match(/ agent_usage mode=/g)?.length, 3)
  t.match(
    written,
    /agent_usage mode=work model=null input_tokens=1200 output_tokens=30 cached_tokens=200 cost_usd=null\n/,
  )
  await service.restart()
  t.strictSame((await must(service, 'GET', ref.path)).usage, ended.usage)
  const [listed] = await must(service, 'GET', `/cases/${ref.case_id}/sessions?content=false`)
  t.strictSame(usageTotal(listed.usage), total)
  t.match(listed, { plan: undefined, output: undefined, hypothesis: undefined })
  t.strictSame((await must(service, 'GET', ref.path)).problems, [])

  const page = await text(`/case/${ref.case_id}/session/1`)
  t.match(page, /Usage Plan 1,200 tokens in \(200 cached\), 30 out Plan again 1,200 .* Work 1,200/)
  t.match(page, / Total 3,600 tokens in \(600 cached\), 90 out /)
  const casePage = await text(`/case/${ref.case_id}`)
  t.match(casePage, /Agent usage in all sessions: 3,600 tokens in \(600 cached\), 90 out /)
})

t.test('a cost, and a run that ends before it said one', async (t) => {
  const { ref, session } = await plannedBy(service, 'claude')
  t.match(session.usage, [
    {
      mode: 'plan',
      model: '<opus>',
      input_tokens: 20,
      output_tokens: 6,

      cached_tokens: 7,
      cost_usd: 0.25,
    },
  ])
  writeFileSync(join(bin, 'dies'), '')
  const { session: ended } = await finished(service, ref)
  t.equal(ended.state, 'failed')
  const nothing = { input_tokens: null, output_tokens: null, cached_tokens: null, cost_usd: null }
  t.match(ended.usage[1], { mode: 'work', model: '<opus>', ...nothing })
  t.match(usageTotal(ended.usage), { runs: 2, cost_usd: 0.25, input_tokens: 20, incomplete: true })
  const html = (await service.request('GET', `/case/${ref.case_id}/session/1`)).text
  t.match(html, /&lt;opus>|&lt;opus&gt;/)
  t.match(html, /at least \$0\.25/)
  t.match(html, /With a subscription it is not what you pay/)
})
