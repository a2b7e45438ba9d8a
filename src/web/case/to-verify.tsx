import { itemsMetBy, suggestProof, unmetText, unmetTypes } from '../../model/suggest-proof.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { logPage, proofPage } from '../shell/addresses.ts'
import type { CasePageData } from './data.ts'

/** What is missing before the case can be resolved, or that nothing is, with the one thing to do next. */
export function ToVerify({ data }: { data: CasePageData }) {
  const { attention, gate, candidates } = data
  if (attention?.kind !== 'proof' && attention?.kind !== 'gate_open') return null
  const text = visibleText(attention.text)
  const offered = candidates.filter(({ attached, size }) => attached === null && size !== null)
  const { href, label } = nextLink(data, offered)
  return (
    <div class="notice with-actions" id="to-verify">
      <div>
        <strong>{text.charAt(0).toUpperCase() + text.slice(1)}.</strong>
        {unmetTypes(offered, gate).map((type) => (
          <p class="small muted">{visibleText(unmetText(type, offered))}</p>
        ))}
      </div>
      <a class="button" href={href}>
        {label}
      </a>
    </div>
  )
}

function nextLink({ id, gate, proofs }: CasePageData, offered: CasePageData['candidates']) {
  if (gate.open) return { href: '#state', label: 'Go to Resolve' }
  const waiting = proofs.find(
    ({ proof, verified, objection }) =>
      !verified && objection === null && itemsMetBy(proof.type, gate).length > 0,
  )
  if (waiting) return { href: proofPage(id, waiting.proof.id), label: 'Read and verify' }
  const [first] = suggestProof(offered, gate)
  if (!first) return { href: '#proof', label: 'Go to the proof' }
  const { session, artifact } = first.row
  return { href: logPage(id, session.number, artifact), label: `Read and attach ${artifact}` }
}
