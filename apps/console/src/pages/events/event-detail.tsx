import { type Event, fieldChanges, type Json } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { Time } from '../../components/content/time.tsx';
import { ChangedFields, JsonDiff } from './changed-fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { ProjectName } from '../../components/content/project-name.tsx';
import styles from './events.module.css';
import { useUndoRights } from './undo-rights.ts';

interface EventDetailProps {
  readonly event: Event;
  readonly onUndo: (event: Event) => void;
}

/** What an event changed, field by field and as JSON, with a button to undo it and links to related events. */
export function EventDetail({ event, onUndo }: EventDetailProps) {
  const { id, type, createdBy, createdAt, project, featureName, environment } = event;
  const [isJson, setJson] = useState(false);
  const { mayUndo } = useUndoRights(event);
  const [before, after] = [event.preData as Json | undefined, event.data as Json | undefined];
  const changes = fieldChanges(before, after);
  return (
    <div className={styles['detail']}>
      <dl className={styles['facts']}>
        <div>
          <dt>Type</dt>
          <dd>
            <code>{type}</code>
          </dd>
        </div>
        <div>
          <dt>By</dt>
          <dd>
            <PersonName id={event.createdByUserId} login={createdBy} isFull />
          </dd>
        </div>
        <div>
          <dt>When</dt>
          <dd>
            <Time at={createdAt} isAbsolute /> (<Time at={createdAt} />)
          </dd>
        </div>
        {project != null && (
          <div>
            <dt>Where</dt>
            <dd>
              <ProjectName id={project} />
              {environment != null && ` / ${environment}`}
            </dd>
          </div>
        )}
      </dl>
      {changes.length === 0 ? (
        <p className={layout['muted']}>The event has no details.</p>
      ) : (
        <ChangedFields
          changes={changes}
          label="What changed"
          {...(before == null ? { hiddenSide: 'before' } : after == null ? { hiddenSide: 'after' } : {})}
        />
      )}
      {isJson && (
        <JsonDiff before={before} after={after} label="The event as JSON: what was removed and what was added" />
      )}
      <div className={layout['actions']}>
        {mayUndo && (
          <Button size="small" onPress={() => onUndo(event)}>
            Undo this…
          </Button>
        )}
        {changes.length > 0 && (
          <Button size="small" variant="quiet" aria-expanded={isJson} onPress={() => setJson(!isJson)}>
            As JSON, with what was before
          </Button>
        )}
        <Link to="/events" search={{ q: `id:${id}` }}>
          Link to this event
        </Link>
        {featureName != null && (
          <Link to="/events" search={{ q: `feature:${featureName}` }}>
            All events of this flag
          </Link>
        )}
      </div>
    </div>
  );
}
