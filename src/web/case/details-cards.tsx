import { counted, sizeText } from '../../model/amounts.ts'
import { CASE_FIELDS, FIELD_LIST } from '../../model/case-fields.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import type { ResolvedCase } from '../../sessions/context.ts'
import { CASES, casePage, memoryPage, proofPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { CopiableText } from '../shell/copy-button.tsx'
import { FormActions, FormDisclosure, ShowMore } from '../shell/disclosure.tsx'
import { Fact } from '../shell/facts.tsx'
import { InputField } from '../shell/field.tsx'
import { Isolated } from '../shell/isolated.tsx'
import { Panel } from '../shell/menu.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData, RelatedCase } from './data.ts'

const MAX_FILES = 15

/** The markdown files of the case, and the folder they are in. */
export function Files({ data: { id, files, path } }: { data: CasePageData }) {
  return (
    <Panel id="memory" title="Files">
      <ShowMore
        id="more-files"
        items={files}
        limit={MAX_FILES}
        label={`All ${files.length} files`}
        list={(some) => (
          <ul class="file-list stack">
            {some.map(({ filename, kind, size, updated_at }) => (
              <li>
                <a href={memoryPage(id, filename)}>
                  {kind === 'session' ? `sessions/${filename}` : visibleName(filename)}
                </a>
                <span class="small muted">
                  {sizeText(size)} · <Time at={updated_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      />
      <CopiableText text={path} what="the path of the folder" class="small" />
      <FormDisclosure id="new-file" label="New file" action={memoryPage(id, '')}>
        <InputField
          id="new-file-name"
          label="Name"
          hint="Any file name that ends with .md"
          name="filename"
          required
          placeholder="notes.md"
          pattern="[^.\/\\][^\/\\]*\.[mM][dD]"
          title="A file name that ends with .md, without / or \\ and without a dot in front"
          autocomplete="off"
        />
        <FormActions submit="Create file" />
      </FormDisclosure>
    </Panel>
  )
}

/** What was learned from resolved cases like this one. */
export function Similar({ id, cases }: { id: string; cases: ResolvedCase[] | null }) {
  if (cases?.length === 0) return null
  return (
    <Panel id="similar" title="Similar resolved cases">
      {cases === null ? (
        <p class="small">
          <a href={`${casePage(id)}?similar`}>Find similar resolved cases</a>
        </p>
      ) : (
        <ul class="plain-list">
          {cases.map((resolved) => (
            <SimilarCase resolved={resolved} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function SimilarCase({ resolved }: { resolved: ResolvedCase }) {
  const { id, title, outcome, reason, cause, proof } = resolved
  const [first] = proof
  const accepted = proof.find((each) => each.accepted_despite !== null)
  return (
    <li>
      <a href={casePage(id)}>
        <Isolated text={title} />
      </a>
      <p class="small muted">
        {outcome === null ? 'No outcome' : visibleText(outcomeLabel(outcome))}
        {first && (
          <>
            , <a href={proofPage(id, first.id)}>proved by {first.type}</a>
          </>
        )}
      </p>
      {accepted && (
        <p class="small bad-text">
          Accepted although <Isolated text={accepted.accepted_despite ?? ''} />:{' '}
          <Isolated text={accepted.accepted ?? ''} />
        </p>
      )}
      {(reason ?? cause) && (
        <p class="small">
          <Isolated text={reason ?? cause ?? ''} />
        </p>
      )}
    </li>
  )
}

const MAX_CHILDREN = 15

/** Fields that are shown as they are; a parent is a link, and a provider may be the workspace's. */
const PLAIN = FIELD_LIST.filter(
  ({ name, shownIn }) => !shownIn && name !== 'parent' && name !== 'provider',
)

export function Details({ data }: { data: CasePageData }) {
  const { id, json, parent, children, provider } = data
  return (
    <Panel id="details" title="Details">
      <dl class="fact-list">
        {parent && (
          <Fact label={CASE_FIELDS.parent.label}>
            <RelatedCaseLink related={parent} />
          </Fact>
        )}
        {children.length > 0 && (
          <Fact label="Sub-cases">
            <ShowMore
              id="more-sub-cases"
              items={children}
              limit={MAX_CHILDREN}
              label={`All ${children.length} sub-cases`}
              list={(some) => (
                <ul class="plain-list">
                  {some.map((related) => (
                    <li>
                      <RelatedCaseLink related={related} />
                    </li>
                  ))}
                </ul>
              )}
            />
          </Fact>
        )}
        {PLAIN.map(({ name, label, placeholder }) => {
          const text = textOf(json[name]) ?? placeholder
          return (
            text && (
              <>
                <dt>{label}</dt>
                <dd dir={directionOf(text)}>{visibleProse(text)}</dd>
              </>
            )
          )
        })}
        <Fact label={CASE_FIELDS.provider.label}>
          {provider}
          {json.provider === null && <span class="muted"> (workspace default)</span>}
        </Fact>
        <Fact label="Created">
          <Time at={json.created_at} ago={false} />
        </Fact>
        <Fact label="ID">
          <CopiableText text={id} what="the ID" />
        </Fact>
      </dl>
    </Panel>
  )
}

function textOf(value: string | readonly string[] | null): string | null {
  const text = typeof value === 'string' ? value : (value ?? []).join(', ')
  return text === '' ? null : text
}

function RelatedCaseLink({ related: { id, title, state } }: { related: RelatedCase }) {
  if (state === null) return <span class="muted">{visibleText(title)} (no such case)</span>
  return (
    <>
      <a href={casePage(id)} dir={directionOf(title)}>
        {visibleProse(title)}
      </a>{' '}
      <StateBadge state={state} />
    </>
  )
}

export function DeleteForm({ data: { id, json, etag, sessions, proofs } }: { data: CasePageData }) {
  const content = `${counted(sessions.length, 'session')}, ${counted(proofs.length, 'proof')}`
  return (
    <FormDisclosure
      id="delete"
      label="Delete this case"
      formId="delete-case"
      data-send="DELETE"
      action={`/cases/${id}`}
      data-if-match={etag}
      data-then={CASES}
      data-confirm={`Delete "${visibleProse(json.title)}" with ${content} and all files in its folder? Only git can bring them back.`}
    >
      <p class="small">Deletes the case folder with {content} and all memory files.</p>
      <div>
        <button type="submit" class="danger">
          Delete the case
        </button>
      </div>
    </FormDisclosure>
  )
}
