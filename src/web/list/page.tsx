import { counted } from '../../model/amounts.ts'
import { unboundConversations } from '../agents/recent-conversations.ts'
import type { PageAssets } from '../assets.ts'
import type { PageDeps } from '../deps.ts'
import { AGENTS, changesOf, NEW_CASE } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { ProblemItems } from '../shell/problems.tsx'
import { AttentionIcons } from './attention-icons.tsx'
import { CaseGroups } from './case-groups.tsx'
import type { Listing } from './data.ts'
import { FilterBar } from './filter-bar.tsx'
import { type Filters, hasFilters, type Words } from './filters.ts'
import { NoCases, type NoCasesProps } from './no-cases.tsx'
import type { RowFacts } from './row-facts.ts'
import { SyncForm, SyncReport } from './sync-line.tsx'

interface ListPageProps {
  service: PageDeps['service']
  assets: PageAssets
  filters: Filters
  list: Listing
  words: Words
  facts: ReadonlyMap<string, RowFacts>
  /** For a workspace without cases. */
  start: NoCasesProps
}

/** The list of cases, starting with those that wait for the operator. */
export function ListPage({ service, assets, filters, list, words, facts, start }: ListPageProps) {
  const waiting = assets.waiting()
  const isBare = list.total === 0 && !hasFilters(filters)
  const isNew = isBare && !start.isConfigured
  return (
    <Page
      title={waiting > 0 ? `(${waiting}) Cases` : 'Cases'}
      assets={assets}
      kind="cases"
      live={changesOf()}
    >
      <div class="list-head row">
        <h1>{isNew ? 'Set up Casefile' : 'Cases'}</h1>
        <SyncForm status={service.sync.known()} />
        {!isBare && (
          <a class="button primary" href={NEW_CASE}>
            New case
          </a>
        )}
      </div>
      {isNew && (
        <p class="lead">
          A few questions about <bdi>{assets.workspace}</bdi>, then your first case.
        </p>
      )}
      <SyncReport status={service.sync.known()} />
      <WorkspaceNotice service={service} />
      <UnboundNotice service={service} />
      <AttentionIcons />
      <div id="seen-plans" class="needs-script" />
      {isBare ? (
        <NoCases {...start} />
      ) : (
        <>
          <FilterBar filters={filters} list={list} words={words} />
          {list.fitting === 0 && <NothingFits filters={filters} />}
          <CaseGroups list={list} filters={filters} facts={facts} />
        </>
      )}
    </Page>
  )
}

/** Problems of the workspace that belong to no case. */
async function WorkspaceNotice({ service }: Pick<ListPageProps, 'service'>) {
  const problems = await service.problems()
  const { trouble } = service.watching()
  return (
    <>
      {trouble && (
        <p class="notice" data-tone="warn" id="watching-notice">
          File changes are detected with a delay: {trouble.message}. To fix it: {trouble.remedy}.
        </p>
      )}
      {problems.length > 0 && (
        <details class="notice" data-tone="warn" id="workspace-notice">
          <summary>{counted(problems.length, 'workspace problem')}</summary>
          <ProblemItems problems={problems} />
        </details>
      )}
    </>
  )
}

/** Agents in terminals whose work belongs to no case. */
function UnboundNotice({ service }: Pick<ListPageProps, 'service'>) {
  const count = unboundConversations(service).length
  if (count === 0) return null
  return (
    <div class="notice with-actions" id="unbound-conversations">
      <div>
        <strong>{counted(count, 'conversation')} without a case.</strong>
        <p class="small muted">
          {count === 1
            ? "An agent works in a terminal, and Casefile doesn't record its work."
            : "Agents work in terminals, and Casefile doesn't record their work."}
        </p>
      </div>
      <a class="button" href={AGENTS}>
        Choose {count === 1 ? 'its case' : 'their cases'}
      </a>
    </div>
  )
}

function NothingFits({ filters }: { filters: Filters }) {
  const { group, ...others } = filters
  const isOnlyWaiting = group.join() === 'waiting' && Object.values(others).flat().length === 0
  return (
    <section class="card list-empty">
      <h2>{isOnlyWaiting ? 'Nothing needs you' : 'No matches'}</h2>
      <p>
        {isOnlyWaiting
          ? 'No plan, question, failure or proof waits for you.'
          : 'No case matches these filters.'}
      </p>
    </section>
  )
}
