import { CASE_FIELDS, FIELD_LIST } from '../../model/case-fields.ts'
import { casePage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import type { CaseName, CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'

const MOST_PARTS = 15

/** Those that are shown as they are; a parent is a link, and a provider may be the workspace's. */
const PLAIN = FIELD_LIST.filter(
  ({ name, shownIn }) => !shownIn && name !== 'parent' && name !== 'provider',
)

/** What else there is to know: where it lies, what belongs to it. */
export function FactsCard({ view }: { view: CaseView }) {
  const { id, json, parent, children, provider } = view
  return (
    <section class="card" id="facts" aria-labelledby="facts-title">
      <h2 id="facts-title">About</h2>
      <dl class="fact-list">
        {parent && (
          <>
            <dt>{CASE_FIELDS.parent.label}</dt>
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
        {PLAIN.map(({ name, label, placeholder }) => {
          const text = textOf(json[name]) ?? placeholder
          return (
            text && (
              <>
                <dt>{label}</dt>
                <dd dir="auto">{text}</dd>
              </>
            )
          )
        })}
        <dt>{CASE_FIELDS.provider.label}</dt>
        <dd>
          {provider}
          {json.provider === null && <span class="muted"> (workspace default)</span>}
        </dd>
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

function textOf(value: string | readonly string[] | null): string | null {
  const text = typeof value === 'string' ? value : (value ?? []).join(', ')
  return text === '' ? null : text
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
