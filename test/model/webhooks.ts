import t from 'tap'
import {
  type Attempt,
  afterAttempt,
  type Delivery,
  hasExceededFailureWindow,
  isSuccess,
  RETRY_WAITS_MS,
  requeue,
} from '../../src/model/delivery.ts'
import { changedWebhook, secretsOf, type Webhook, wantsType } from '../../src/model/webhook.ts'

const AT = '2026-11-24T12:00:00.000Z'
const NOW = Date.parse(AT)
const HOUR = 3_600_000
const webhook: Webhook = {
  id: 'w',
  case_id: null,
  url: 'https://x',
  events: ['case_created'],
  secret: 'new',
  previous_secret: null,
  active: true,
  disabled: null,
  case_deleted: false,
  created_at: AT,
  updated_at: AT,
}

t.test('* means the events of the specification, and others come only by name', async (t) => {
  t.ok(wantsType(webhook, 'case_created'))
  t.notOk(wantsType(webhook, 'case_state_changed'))
  t.ok(wantsType({ events: ['*'] }, 'case_state_changed'))
  for (const type of ['case_created', 'memory_of_another_kind']) {
    t.notOk(wantsType({ events: ['*'] }, type), type)
  }
})

t.test('a replaced secret signs for a day', async (t) => {
  const changed = changedWebhook(webhook, { secret: 'newer' }, AT)
  t.strictSame(secretsOf(changed, NOW + 24 * HOUR - 1), ['newer', 'new'])
  t.strictSame(secretsOf(changed, NOW + 24 * HOUR), ['newer'])
  const later = new Date(NOW + 24 * HOUR).toISOString()
  t.equal(changedWebhook(changed, { active: false }, later).previous_secret, null)
  t.ok(changedWebhook(changed, { active: false }, AT).previous_secret)
  t.equal(changedWebhook(webhook, { secret: 'new' }, AT).previous_secret, null)
  const gone = { ...webhook, active: false, disabled: { reason: 'gone' as const, at: AT } }
  t.match(changedWebhook(gone, { active: true }, AT), {
    active: true,
    disabled: null,
  })
  t.match(changedWebhook(gone, { url: 'https://y' }, AT), {
    url: 'https://y',
    disabled: gone.disabled,
  })
})

const delivery: Delivery = {
  id: 'd',
  event: 1,
  type: 'x',
  envelope: '',
  state: 'retrying',
  attempts: [],
  tries: 0,
  next_at: AT,
}
const attempt = (parts: Partial<Attempt> = {}): Attempt => ({
  at: AT,
  ms: 1,
  status: 500,
  error: 'no',
  retry_after_ms: null,
  ...parts,
})

t.test('when a delivery is tried again, and when never', async (t) => {
  const after = (tries: number, parts: Partial<Attempt> = {}, random = 0.5) => {
    const { state, next_at } = afterAttempt({ ...delivery, tries }, attempt(parts), {
      now: NOW,
      random,
    })
    return [state, next_at === null ? null : Date.parse(next_at) - NOW]
  }
  t.strictSame(after(0), ['retrying', 5000])
  t.strictSame(after(0, {}, 0), ['retrying', 4000])
  t.strictSame(after(8), ['retrying', 24 * HOUR])
  t.strictSame(after(9), ['dead', null], 'the tenth')
  t.strictSame(after(0, { isFinal: true }), ['dead', null])
  t.strictSame(after(0, { status: 204, error: null }), ['delivered', null])
  t.strictSame(after(0, { retry_after_ms: 60_000 }), ['retrying', 60_000])
  t.strictSame(after(1, { retry_after_ms: 1 }), ['retrying', 300_000])
  t.strictSame(after(0, { retry_after_ms: 48 * HOUR }), ['retrying', 24 * HOUR])
  t.equal(RETRY_WAITS_MS.length, 9)
  t.strictSame(
    [199, 200, 299, 300].map((status) => isSuccess({ status, error: null })),
    [false, true, true, false],
  )
  t.match(requeue({ ...delivery, state: 'dead', tries: 10 }, AT), {
    state: 'retrying',
    tries: 0,
    next_at: AT,
  })
  const many = { ...delivery, attempts: Array.from({ length: 20 }, () => attempt({ ms: 7 })) }
  const { attempts } = afterAttempt(many, attempt(), { now: NOW, random: 0 })
  t.strictSame([attempts.length, attempts.at(-1)?.ms], [20, 1])
})

t.test('a receiver that fails ten times in five days is given up', async (t) => {
  const failing = (count: number, hours: number) =>
    hasExceededFailureWindow({ since: AT, count }, NOW + hours * HOUR)
  t.strictSame(
    [failing(10, 120), failing(9, 120), failing(10, 119.9), failing(50, 1)],
    [true, false, false, false],
  )
})
