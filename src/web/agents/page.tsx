import { counted } from '../../model/amounts.ts'
import { type NotUnderstood, notUnderstoodText } from '../../model/not-understood.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import { CodeName } from '../../rendering/highlight/code-view.tsx'
import type { LeveledHooks } from '../../runners/agents/install/levels.ts'
import { levelWord } from '../../runners/agents/install/status-text.ts'
import type { PageAssets } from '../assets.ts'
import { casePage, NEW_CASE, pathTo, sessionPage } from '../shell/addresses.ts'
import { Badge, StateBadge } from '../shell/badges.tsx'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Field } from '../shell/field.tsx'
import { NotGated } from '../shell/not-gated.tsx'
import { Page } from '../shell/page.tsx'
import { Time } from '../shell/time.tsx'
import type { AgentRow, AgentsData, CaseChoices } from './data.ts'

interface AgentsPageProps extends AgentsData {
  assets: PageAssets
}

/** Conversations with agents in terminals; first those that belong to no case. */
export function AgentsPage({ assets, rows, choices, notUnderstood, hooks }: AgentsPageProps) {
  const unbound = rows.filter((row) => row.case === null && !row.needsCase)
  const bound = rows.filter((row) => row.case !== null || row.needsCase)
  return (
    <Page title="Agents in terminals" assets={assets} kind="agents">
      <Breadcrumbs above={pathTo()} current="Agents in terminals" />
      <h1>Agents in terminals</h1>
      <p class="lead">
        Agents that you start yourself, as their hooks report them. The list has those that run, and
        those of the last day.
      </p>
      {rows.length === 0 && notUnderstood.length === 0 && <NoAgents />}
      {notUnderstood.length > 0 && <NotUnderstoodCalls calls={notUnderstood} />}
      {unbound.length > 0 && (
        <section class="card" id="without-case" aria-labelledby="without-case-title">
          <h2 id="without-case-title">
            Without a case <span class="count">{unbound.length}</span>
          </h2>
          <p class="muted small">
            Casefile records nothing of these, and denies nothing. Choose a case to change that.
          </p>
          <ul class="row-list">
            {unbound.map((row) => (
              <AgentItem row={row}>
                {!row.hasEnded && <CaseForm row={row} choices={choices} />}
              </AgentItem>
            ))}
          </ul>
        </section>
      )}
      {bound.length > 0 && (
        <section class="card" id="with-case" aria-labelledby="with-case-title">
          <h2 id="with-case-title">
            With a case <span class="count">{bound.length}</span>
          </h2>
          <ul class="row-list">
            {bound.map((row) => (
              <AgentItem row={row}>
                {row.needsCase && (
                  <>
                    <p class="notice" data-tone="warn">
                      Its case was closed or deleted, so it may only read. Choose another case, or
                      run <code>casefile agent use --none</code> in its folder.
                    </p>
                    <CaseForm row={row} choices={choices} />
                  </>
                )}
              </AgentItem>
            ))}
          </ul>
        </section>
      )}
      {hooks.length > 0 && <HookLevels hooks={hooks} />}
    </Page>
  )
}

function NotUnderstoodCalls({ calls }: { calls: readonly NotUnderstood[] }) {
  return (
    <section class="card" id="not-understood" aria-labelledby="not-understood-title">
      <h2 id="not-understood-title">
        Not understood <span class="count">{calls.length}</span>
      </h2>
      <ul class="row-list">
        {calls.map((call) => (
          <li>
            <p>{visibleText(notUnderstoodText(call))}</p>
            <p class="facts">
              {call.fields.length > 0 && <span>It has: {call.fields.join(', ')}</span>}
              <span>{counted(call.count, 'time')}</span>
              <span>
                last heard <Time at={call.last_at} />
              </span>
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What holds for the hooks of each agent. */
function HookLevels({ hooks }: { hooks: readonly LeveledHooks[] }) {
  return (
    <section class="card" id="hooks" aria-labelledby="hooks-title">
      <h2 id="hooks-title">Installed hooks</h2>
      <p class="muted small">
        What <code>casefile agent test</code> saw: it sends each a write, which must be denied, and
        a read.
      </p>
      <ul class="row-list">
        {hooks.map((each) => (
          <HookItem hooks={each} />
        ))}
      </ul>
    </section>
  )
}

function HookItem({ hooks }: { hooks: LeveledHooks }) {
  const { agent, level, reason, file, tested_at, version, version_note } = hooks
  const tone = level === 'gated' ? 'good' : level === 'untested' ? 'warn' : 'bad'
  return (
    <li>
      <div class="row-main">
        <strong>{agent}</strong>
        <Badge tone={tone}>{levelWord(level)}</Badge>
      </div>
      <p class="facts">
        <span>
          <CodeName name={file} />
        </span>
        {(version_note ?? version) !== null && <span>{visibleText(version_note ?? version!)}</span>}
        {reason !== '' && <span>{visibleText(reason)}</span>}
        {tested_at !== null && (
          <span>
            tested <Time at={tested_at} />
          </span>
        )}
      </p>
    </li>
  )
}

function NoAgents() {
  return (
    <section class="card list-empty" id="no-agents">
      <h2>No agent was heard</h2>
      <p>
        To record an agent that you run yourself, and to hold its changes until you approve a plan,
        run <code>casefile agent install</code> and <code>casefile agent use</code> in its folder,
        then start it.
      </p>
    </section>
  )
}

function AgentItem({ row, children }: { row: AgentRow; children?: unknown }) {
  const { conversation, folder, session, hasEnded, isUngated } = row
  const { id, agent, branch, prompts, tool_calls, model, started_at, last_heard_at } = conversation
  return (
    <li id={`conversation-${id}`} tabindex={-1}>
      <div class="row-main">
        <strong>{agent === 'other' ? 'Another agent' : agent}</strong>
        <Badge tone={hasEnded ? 'muted' : 'active'}>{hasEnded ? 'Ended' : 'Running'}</Badge>
        {isUngated && <Badge tone="bad">Not gated</Badge>}
        {row.case && (
          <a href={casePage(row.case.id)} data-row dir={directionOf(row.case.title)}>
            {visibleProse(row.case.title)}
          </a>
        )}
        {row.case && session && (
          <>
            <a href={sessionPage(row.case.id, session.number)}>Session {session.number}</a>
            <StateBadge state={session.state} />
          </>
        )}
      </div>
      <p class="facts">
        <span>
          in {folder === '.' ? 'the workspace' : <CodeName name={folder} />}
          {branch !== null && (
            <>
              , branch <CodeName name={branch} />
            </>
          )}
        </span>
        <span>
          {counted(prompts, 'prompt')}, {counted(tool_calls, 'tool call')}
        </span>
        {model !== null && <span>{visibleText(model)}</span>}
        <span>
          {last_heard_at === null ? 'started ' : 'last heard '}
          <Time at={last_heard_at ?? started_at} />
        </span>
      </p>
      {isUngated && (
        <p class="notice" data-tone="bad">
          <NotGated />
        </p>
      )}
      {children}
    </li>
  )
}

function CaseForm({ row, choices }: { row: AgentRow; choices: CaseChoices }) {
  const { id } = row.conversation
  const { first, total } = choices
  const field = `case-for-${id}`
  if (total === 0) {
    return (
      <p>
        There is no open case. <a href={NEW_CASE}>Create one</a> first.
      </p>
    )
  }
  const effect = row.isUngated
    ? 'Its work is recorded as a session of the case once its hooks are heard.'
    : "From its next prompt or tool call on, the agent can't change anything until you approve a plan."
  const more =
    total > first.length
      ? ` For a case that is not listed, run: casefile agent adopt ${id.slice(0, 8)} <case>`
      : ''
  return (
    <form
      class="form needs-script"
      data-send="POST"
      action={`/conversations/${id}/adopt`}
      data-focus={`#conversation-${id}`}
    >
      <Field id={field} label="Case" hint={`${effect}${more}`}>
        <select id={field} name="case_id" required aria-describedby={`${field}-hint`}>
          <option value="">Choose a case</option>
          {first.map(({ value, label }) => (
            <option value={value}>{label}</option>
          ))}
        </select>
      </Field>
      <div class="actions">
        <button type="submit">Add to this case</button>
      </div>
    </form>
  )
}
