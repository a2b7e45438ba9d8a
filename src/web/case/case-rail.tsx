import { CASE_FIELDS } from '../../model/case-fields.ts'
import { HISTORY_FILE } from '../../model/history.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import { outcomeLabel, outcomeTone } from '../../model/outcomes.ts'
import { IN_LINE, STATE_GROUP_TONES, stateGroup, stateLabel } from '../../model/state-groups.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleText } from '../../rendering/hidden-characters.ts'
import { casesWithTag, memoryPage } from '../shell/addresses.ts'
import { Badge } from '../shell/badges.tsx'
import { ShowMore } from '../shell/disclosure.tsx'
import { Fact } from '../shell/facts.tsx'
import { FixFileLink } from '../shell/problems.tsx'
import { SourceLink } from '../shell/source-link.tsx'
import { Time } from '../shell/time.tsx'
import type { CasePageData } from './data.ts'
import { GateList } from './gate-card.tsx'

const MAX_TAGS = 20

/** Beside the text, in the second weight: what proves the case, its state and what describes it. */
export function CaseRail({ data }: { data: CasePageData }) {
  const { id, json, broken, attention, files, provider, inLine } = data
  const tags = json.tags.filter((tag) => tag !== json.type)
  const group = stateGroup(json.state, attention?.kind)
  return (
    <>
      <GateList data={data} />
      <dl class="fact-list" id="properties">
        <dt>State</dt>
        <dd id="state">
          {inLine ? (
            <Badge tone="info">{IN_LINE}</Badge>
          ) : (
            <Badge tone={STATE_GROUP_TONES[group]} state={json.state}>
              {stateLabel(json.state)}
            </Badge>
          )}
        </dd>
        {json.outcome && (
          <Fact label={CASE_FIELDS.outcome.label}>
            <Badge tone={outcomeTone(json.outcome)}>
              {visibleText(outcomeLabel(json.outcome))}
            </Badge>
          </Fact>
        )}
        <Fact label={CASE_FIELDS.type.label}>{json.type}</Fact>
        {tags.length > 0 && (
          <Fact label={CASE_FIELDS.tags.label}>
            <ShowMore
              id="more-tags"
              items={tags}
              limit={MAX_TAGS}
              label={`All ${tags.length} tags`}
              list={(some) =>
                some.map((tag) => (
                  <>
                    <a href={casesWithTag(tag)} dir={directionOf(tag)}>
                      {visibleName(tag)}
                    </a>{' '}
                  </>
                ))
              }
            />
          </Fact>
        )}
        <Fact label="Agent">{visibleName(provider)}</Fact>
        {json.source && (
          <Fact label={CASE_FIELDS.source.label}>
            <SourceLink source={json.source} />
          </Fact>
        )}
        <Fact label="Updated">
          <Time at={json.updated_at} />
        </Fact>
        <Fact label="Files">
          {broken ? (
            <FixFileLink caseId={id} problem={broken} />
          ) : (
            <a href={memoryPage(id, 'case.md')}>case.md</a>
          )}{' '}
          {[HISTORY_FILE, RUNBOOK_FILE].map(
            (name) =>
              files.some(({ filename }) => filename === name) && (
                <>
                  <a href={memoryPage(id, name)}>{name}</a>{' '}
                </>
              ),
          )}
        </Fact>
      </dl>
    </>
  )
}
