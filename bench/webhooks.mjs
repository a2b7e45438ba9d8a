import { measureArrivals } from './webhook-arrivals.mjs'
import { measureBurst } from './webhook-burst.mjs'
import { measureHanging } from './webhook-hanging.mjs'
import { openSide } from './webhook-side.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * How fast events are delivered, how soon, and what receivers that hang cost (issue "Webhooks that
 * arrive").
 * @type {Suite}
 */
export const webhooksSuite = {
  sizes: [500],
  limits: {
    posting:
      'a Node process that posts the same bytes to the same receivers, to each one after the other over one kept connection; nothing is signed, nothing kept on the disk',
    'none that hang': 'another Casefile, with only the receiver that answers, asked in turns',
    answering: 'a Node process that answers a request and then posts',
    watching: "a Node process with one `fs.watch` on each case's folder that posts for each change",
  },
  async *measure(size, options) {
    options.say(`Casefile is started on ${size} cases, twice`)
    const [side, other] = await Promise.all([openSide(size, options), openSide(size, options)])
    const hanging = await measureHanging([side, other], options)
    await other.stop()
    yield* await measureBurst(side, options)
    yield* await measureArrivals(side, options)
    await side.stop()
    yield* hanging
  },
}
