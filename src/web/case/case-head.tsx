import { visibleProse } from '../../rendering/hidden-characters.ts'
import { CASES, casePage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import { CaseForm } from './case-form.tsx'
import type { CaseView } from './case-view.ts'
import { FoldRest } from './fold-rest.tsx'
import { MendFile } from './mend-file.tsx'

const MOST_TAGS = 20

/** What the case is called and of what kind it is, with the form to change that. */
export function CaseHead({ view }: { view: CaseView }) {
  const { json, parent } = view
  return (
    <div class="record-head" id="record-head">
      <nav class="crumbs" aria-label="Where this is">
        <a href={CASES}>Cases</a>
        {parent && (
          <>
            {' / '}
            <a href={casePage(parent.id)} dir="auto">
              {parent.title}
            </a>
          </>
        )}
      </nav>
      <div class="record-title">
        <h1 dir="auto">{visibleProse(json.title)}</h1>
        {view.broken ? <MendFile id={view.id} problem={view.broken} /> : <CaseForm view={view} />}
      </div>
      <div class="record-tags">
        <StateBadge state={json.state} />
        {json.outcome && <span class="tag outcome">{json.outcome}</span>}
        <span class="tag">{json.type}</span>
        <FoldRest
          id="more-tags"
          items={json.tags}
          most={MOST_TAGS}
          label={`All ${json.tags.length} tags`}
          list={(tags) => tags.map((tag) => <Tag tag={tag} />)}
        />
        <span class="small muted">
          updated <Time at={json.updated_at} />
        </span>
      </div>
    </div>
  )
}

function Tag({ tag }: { tag: string }) {
  return (
    <a class="tag" href={`/?tag=${encodeURIComponent(tag)}`} dir="auto">
      {tag}
    </a>
  )
}
