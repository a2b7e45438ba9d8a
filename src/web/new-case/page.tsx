import {
  parseRequirement,
  parseRequirements,
  USUAL_REQUIREMENTS,
} from '../../markdown/requirement-line.ts'
import type { Case } from '../../model/case.ts'
import { type NamedField, NEW_CASE_FIELDS } from '../../model/case-fields.ts'
import type { PageAssets } from '../assets.ts'
import type { Words } from '../list/filters.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { TextField } from '../shell/field.tsx'
import { Page } from '../shell/page.tsx'
import type { Providers } from '../shell/provider-select.tsx'
import { RequirementItem } from './requirement-item.tsx'

interface NewCasePageProps {
  assets: PageAssets
  words: Words
  /** What a first session can run with. */
  start: Providers
  /** What a new case must prove, as casefile.md says. */
  checklist: readonly string[]
  /** The parent of the new case. */
  parent: Case | undefined
  /** Cases that may be the parent. */
  parents: readonly { id: string; title: string }[]
}

const isFirst = ({ name }: NamedField) => name === 'title' || name === 'description'

/** The form of a new case. After it is sent, the page of the case opens, or its plan. */
export function NewCasePage(props: NewCasePageProps) {
  const { assets, words, parent, parents, start, checklist } = props
  const shared = {
    form: 'new' as const,
    values: parent ? { parent: parent.id } : {},
    words: { type: words.type },
    placeholders: { provider: `default (${start.provider})` },
    providers: start,
    parents,
  }
  const canPlan = start.objections.folder === null
  return (
    <Page title="New case" assets={assets} kind="new-case">
      <Breadcrumbs
        above={[
          { href: CASES, text: 'Cases' },
          ...(parent ? [{ href: casePage(parent.id), text: parent.title }] : []),
        ]}
        current="New case"
      />
      <h1>New case</h1>
      <noscript>
        <p>
          This form needs JavaScript. You can also run <code>casefile new</code> in a terminal.
        </p>
      </noscript>
      <form
        class="card form new-case needs-script"
        id="new-case"
        data-send="POST"
        action="/cases"
        data-then="/case/{id}"
        autocomplete="off"
      >
        <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter(isFirst)} />
        <Requirements checklist={checklist} />
        <details open={parent !== undefined}>
          <summary>More: proof, type, tags, parent, agent</summary>
          <div class="form">
            <ProofField checklist={checklist} />
            <CaseFields {...shared} fields={NEW_CASE_FIELDS.filter((field) => !isFirst(field))} />
          </div>
        </details>
        <div class="actions">
          {canPlan && (
            <button type="submit" class="primary" id="create-and-plan">
              Create and plan
            </button>
          )}
          <button type="submit" class={canPlan ? undefined : 'primary'}>
            Create case
          </button>
          <a href={CASES} class="button quiet" data-return>
            Cancel
          </a>
        </div>
      </form>
    </Page>
  )
}

/** What the case will have to prove; client.tsx keeps it up to date. */
function Requirements({ checklist }: { checklist: readonly string[] }) {
  const items = parseRequirements(checklist.join('\n'))
  return (
    <section id="requirements" aria-label="To resolve it" data-keep hidden={items.length === 0}>
      <p class="small muted">To resolve it</p>
      <ul class="requirement-preview stack" id="requirement-preview" aria-live="polite">
        {items.map((item) => (
          <RequirementItem item={item} />
        ))}
      </ul>
    </section>
  )
}

/** The proof checklist, which begins as casefile.md says. */
function ProofField({ checklist }: { checklist: readonly string[] }) {
  return (
    <div class="requirements stack">
      <TextField
        id="new-checklist"
        label="What would prove it solved?"
        hint="One requirement per line. It must be met before the case can be resolved, unless it ends with (optional)."
        name="checklist"
        rows={3}
        data-list="requirements"
        text={checklist.map((line) => `${line}\n`).join('')}
      />
      <div class="suggestions row">
        {USUAL_REQUIREMENTS.filter((line) => !checklist.includes(line)).map((line) => (
          <button type="button" class="compact" data-requirement={line}>
            + {parseRequirement(line)!.description}
          </button>
        ))}
      </div>
    </div>
  )
}
