import { casePage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { SourceLink } from '../shell/source-link.tsx'
import { Time } from '../shell/time.tsx'
import type { CaseName, CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'

const MOST_PARTS = 15

/** What else there is to know: where it lies, what belongs to it. */
export function FactsCard({ view }: { view: CaseView }) {
  const { id, json, parent, children, provider } = view
  return (
    <section class="card" id="facts" aria-labelledby="facts-title">
      <h2 id="facts-title">About</h2>
      <dl class="fact-list">
        {parent && (
          <>
            <dt>Parent</dt>
            <dd>
              <Name name={parent} />
            </dd>
          </>
        )}
        {children.length > 0 && (
          <>
            <dt>Parts</dt>
            <dd>
              <FoldRest
                id="more-parts"
                items={children}
                most={MOST_PARTS}
                label={`All ${children.length} parts`}
                list={(some) => (
                  <ul class="plain-list">
                    {some.map((name) => (
                      <li>
                        <Name name={name} />
                      </li>
                    ))}
                  </ul>
                )}
              />
            </dd>
          </>
        )}
        <dt>Working folder</dt>
        <dd>{json.workdir ?? 'the workspace'}</dd>
        <dt>Provider</dt>
        <dd>
          {provider}
          {json.provider === null && <span class="muted"> (of the workspace)</span>}
        </dd>
        {json.source !== null && (
          <>
            <dt>Source</dt>
            <dd>
              <SourceLink source={json.source} />
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={json.created_at} ago={false} />
        </dd>
        <dt>Id</dt>
        <dd class="copied-text">
          <code>{id}</code>
          <button type="button" class="quiet needs-script" data-copy={id}>
            Copy<span class="visually-hidden"> the id</span>
          </button>
        </dd>
      </dl>
    </section>
  )
}

function Name({ name: { id, title, state } }: { name: CaseName }) {
  if (state === null) return <span class="muted">{title} (no such case here)</span>
  return (
    <>
      <a href={casePage(id)} dir="auto">
        {title}
      </a>{' '}
      <StateBadge state={state} />
    </>
  )
}
