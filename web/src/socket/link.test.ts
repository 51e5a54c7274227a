import { describe, expect, test } from 'vitest'
import { COMMAND_BYTES_MAX } from '@/protocol'
import { backoffMs } from './backoff'
import { Link, LinkError, type LinkState, type Wire } from './link'
import { Outbox, type Outgoing } from './outbox'

/** A socket and a clock that do what the test says. */
class Stage implements Wire {
  connected = false
  connects = 0
  online = true
  time = 0
  readonly states: LinkState[] = []
  readonly heard: string[] = []
  readonly asked: { name: string; payload: unknown; answer: (error: Error | null, answer: unknown) => void }[] = []
  readonly listeners = new Map<string, (...values: never[]) => void>()
  private timers: { at: number; then: () => void }[] = []
  readonly link = new Link(
    this,
    {
      now: () => this.time,
      random: () => 0.5,
      after: (ms, then) => {
        const timer = { at: this.time + ms, then }
        this.timers.push(timer)
        return () => (this.timers = this.timers.filter((other) => other !== timer))
      },
      isOnline: () => this.online,
      words: (refusal) => refusal.words?.zh ?? refusal.message,
    },
    {
      state: (state) => this.states.push(state),
      connected: () => this.heard.push('connected'),
      event: (event) => this.heard.push(event.type),
      notice: (name) => this.heard.push(`notice ${name}`),
    },
  )

  connect() {
    this.connects++
  }
  disconnect() {
    this.connected = false
  }
  on(event: string, listener: (...values: never[]) => void) {
    this.listeners.set(event, listener)
  }
  onAny(listener: (name: string, payload: unknown) => void) {
    this.listeners.set('*', listener)
  }
  timeout() {
    return {
      emit: (name: string, payload: unknown, answer: (error: Error | null, answer: unknown) => void) =>
        this.asked.push({ name, payload, answer }),
    }
  }
  happens(event: string, value?: unknown) {
    if (event === 'connect') this.connected = true
    if (event === 'disconnect') this.connected = false
    this.listeners.get(event)?.(value as never)
  }
  passes(ms: number) {
    this.time += ms
    const due = this.timers.filter((timer) => timer.at <= this.time)
    this.timers = this.timers.filter((timer) => timer.at > this.time)
    for (const timer of due) timer.then()
  }
  get last() {
    return this.link.state.state
  }
}

describe('asking', () => {
  test('a command that the server would not read to its end is refused here', () => {
    const stage = new Stage()
    stage.link.open()
    stage.happens('connect')
    const failed: LinkError[] = []
    const say = (content: string) =>
      stage.link.ask(
        'chat',
        { content },
        () => {},
        (error) => failed.push(error),
      )
    // One letter of three bytes more than fits between the quotation marks.
    const room = COMMAND_BYTES_MAX - JSON.stringify(['chat', { content: '' }]).length
    say('字'.repeat(Math.floor(room / 3)))
    say('a'.repeat(room))
    expect([stage.asked.length, failed.length]).toEqual([2, 0])
    say('字'.repeat(Math.floor(room / 3) + 1))
    say('a'.repeat(5 * COMMAND_BYTES_MAX))
    expect(stage.asked).toHaveLength(2)
    expect(failed.map((error) => [error.code, error.isTransient])).toEqual([
      ['too_large', false],
      ['too_large', false],
    ])
    expect(failed[1]!.message).toContain('5121 KB')
  })
})

describe('connecting', () => {
  test('it never gives up, and waits longer up to half a minute', () => {
    const stage = new Stage()
    stage.link.open()
    for (let attempt = 0; attempt < 50; attempt++) {
      stage.happens('connect_error', new Error('xhr poll error'))
      expect(stage.last).toBe('waiting')
      stage.passes(30_000)
      expect(stage.last).toBe('connecting')
    }
    expect(stage.connects).toBe(51)
    stage.happens('connect')
    expect(stage.heard).toEqual(['connected'])
  })

  test('waiting times grow, differ, and end at thirty seconds', () => {
    expect(backoffMs(0, () => 1)).toBe(1_000)
    expect(backoffMs(0, () => 0)).toBe(500)
    expect(backoffMs(3, () => 1)).toBe(8_000)
    expect(backoffMs(1_000, () => 1)).toBe(30_000)
  })

  test('without a network it waits for the network', () => {
    const stage = new Stage()
    stage.link.open()
    stage.happens('connect')
    stage.online = false
    stage.link.offline()
    expect(stage.last).toBe('offline')
    stage.passes(60_000)
    expect(stage.connects).toBe(1)
    stage.online = true
    stage.link.retryNow()
    expect(stage.last).toBe('connecting')
  })

  test('rejected credentials are reported and not retried', () => {
    const stage = new Stage()
    stage.link.open()
    stage.happens('connect_error', new Error('unauthorized: log in first'))
    stage.passes(60_000)
    expect(stage.last).toBe('refused')
    expect(stage.connects).toBe(1)
  })

  test('a server that ends the connection is asked again at once', () => {
    const stage = new Stage()
    stage.link.open()
    stage.happens('connect')
    stage.happens('disconnect', 'io server disconnect')
    stage.passes(0)
    expect(stage.connects).toBe(2)
  })
})

describe('asking', () => {
  const asked = (stage: Stage) => {
    const outcome: string[] = []
    stage.link.ask(
      'stop',
      { sessionId: 's' },
      () => outcome.push('answered'),
      (error) => outcome.push(error.code),
    )
    return outcome
  }

  test('answers and refusals are distinguished', () => {
    const stage = new Stage()
    expect(asked(stage)).toEqual(['disconnected'])
    stage.happens('connect')
    const good = asked(stage)
    stage.asked[0]!.answer(null, { ok: true, status: 'idle' })
    expect(good).toEqual(['answered'])
    const refused = asked(stage)
    stage.asked[1]!.answer(null, { ok: false, code: 'not_found', message: '' })
    expect(refused).toEqual(['not_found'])
    const late = asked(stage)
    stage.asked[2]!.answer(new Error('operation has timed out'), undefined)
    expect(late).toEqual(['timeout'])
  })

  test('events of sessions are distinguished from notices', () => {
    const stage = new Stage()
    const on = (name: string, payload: unknown) => stage.listeners.get('*')!(name as never, payload as never)
    on('done', { type: 'done', sessionId: 's', epoch: 'e' })
    on('pong', {})
    expect(stage.heard).toEqual(['done', 'notice pong'])
  })
})

describe('outbox', () => {
  class Desk {
    connected = true
    items: readonly Outgoing[] = []
    acknowledged: string[] = []
    retries: (() => void)[] = []
    sent: { requestId: string; ack: () => void; fail: (code: LinkError['code']) => void }[] = []
    readonly outbox = new Outbox({
      isConnected: () => this.connected,
      send: (chat, then, fail) =>
        this.sent.push({
          requestId: chat.requestId!,
          ack: () => then({ sessionId: 's', disposition: 'started' }),
          fail: (code) => fail(new LinkError(code, code)),
        }),
      changed: (items) => (this.items = items),
      acknowledged: (item) => this.acknowledged.push(item.requestId),
      later: (then) => this.retries.push(then),
    })
    say(requestId: string) {
      this.outbox.add({ content: requestId }, requestId, 'draft', 0)
    }
  }

  test('a message goes out again, under the same id, until it is acknowledged', () => {
    const desk = new Desk()
    desk.say('a')
    desk.connected = false
    desk.sent[0]!.fail('disconnected')
    expect(desk.items.map((item) => item.state)).toEqual(['waiting'])
    desk.connected = true
    desk.outbox.resend()
    desk.outbox.resend()
    expect(desk.sent.map((sent) => sent.requestId)).toEqual(['a', 'a', 'a'])
    desk.sent[1]!.ack()
    desk.sent[2]!.ack()
    expect(desk.acknowledged).toEqual(['a'])
    expect(desk.items).toEqual([])
  })

  test('without a connection messages wait, and keep their order', () => {
    const desk = new Desk()
    desk.connected = false
    desk.say('a')
    desk.say('b')
    expect(desk.sent).toEqual([])
    desk.connected = true
    desk.outbox.resend()
    expect(desk.sent.map((sent) => sent.requestId)).toEqual(['a', 'b'])
  })

  test('silence is followed by another try, a refusal by the user', () => {
    const desk = new Desk()
    desk.say('a')
    desk.sent[0]!.fail('timeout')
    desk.retries[0]!()
    expect(desk.sent).toHaveLength(2)
    desk.sent[1]!.fail('too_large')
    expect(desk.items[0]).toMatchObject({ state: 'failed', problem: { code: 'too_large' } })
    desk.outbox.resend()
    expect(desk.sent).toHaveLength(2)
    desk.outbox.retry('a', 'fresh', 1)
    expect(desk.sent[2]!.requestId).toBe('fresh')
    expect(desk.outbox.take('fresh')?.chat.content).toBe('a')
    expect(desk.items).toEqual([])
  })
})
