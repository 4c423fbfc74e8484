import { FindEventLogPosition, ReadEventLog, systemCaller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import { startedAudit } from '../../test/started-audit.ts';

const { audit, features } = startedAudit();
const read = (after: number, limit = 100) =>
  audit.call(ReadEventLog, { body: { after, limit, waitsForCommits: true } }, systemCaller);
const positionAt = async (since: string) =>
  (await audit.call(FindEventLogPosition, { body: { since } }, systemCaller)).after;

describe('a consumer that follows the log by id', () => {
  it('gets every event that was committed before, oldest first, with its sentence, and then the end of the log', async () => {
    const { head } = await read(0, 0);
    await features.publish(anEvent({ featureName: 'first' }), anEvent({ featureName: 'second' }));
    const page = await read(head);
    expect(page.events.map(({ event }) => [event.id, event.featureName])).toEqual([
      [head + 1, 'first'],
      [head + 2, 'second'],
    ]);
    expect(page.events[0]?.event).toMatchObject({ label: 'Flag created', summary: expect.stringContaining('created') });
    expect(page).toMatchObject({ head: head + 2, headHash: page.events[1]?.hash });
    expect(await read(head + 2)).toMatchObject({ events: [], at: page.headHash, head: head + 2 });
    expect((await read(head, 1)).events).toEqual(page.events.slice(0, 1));
    const body = { after: head, limit: 1, omitsDescriptions: true };
    const [undescribed] = (await audit.call(ReadEventLog, { body }, systemCaller)).events;
    const { label: _label, summary: _summary, ...event } = page.events[0]?.event ?? {};
    expect(undescribed).toEqual({ ...page.events[0], event });
  });

  it('gets what names another project also without what it says of it', async () => {
    const { head } = await read(0, 0);
    const data = { oldProject: 'vault', newProject: 'shop' };
    await features.publish(
      anEvent({ type: 'feature-project-change', project: 'shop', featureName: 'banner', data }),
      anEvent({ type: 'feature-archived', project: 'shop', preData: { project: 'shop' } }),
    );
    const [moved, archived] = (await read(head)).events;
    expect(moved?.event).toMatchObject({ data, summary: expect.stringContaining('vault') });
    expect(moved?.limited).toMatchObject({
      projects: ['vault'],
      event: { id: head + 1, data: { ...data, oldProject: null } },
    });
    expect(JSON.stringify(moved?.limited?.event)).not.toContain('vault');
    expect(archived).not.toHaveProperty('limited');
  });

  it('finds the position from which on events are not older than a time', async () => {
    const { head } = await read(0, 0);
    const at = (minute: number) => `2027-01-01T00:0${minute}:00.000Z`;
    for (const minute of [1, 3, 5]) await features.publish(anEvent({ createdAt: at(minute) }));
    expect(await positionAt(at(0))).toBe(head);
    expect(await positionAt(at(3))).toBe(head + 1);
    expect(await positionAt(at(4))).toBe(head + 2);
    expect(await positionAt(at(6))).toBe(head + 3);
  });
});
