import {
  type AnyOperation,
  isEqual,
  type Json,
  type MergeConflict,
  type ReplyOf,
  threeWayMerge,
} from '@bunting/contracts';
import { useState } from 'react';
import { type Control, Controller, useForm, type UseFormReturn, useWatch } from 'react-hook-form';
import { ApiError } from '../../api/api-error.ts';
import type { CallRequest, WithEntityTag } from '../../api/call.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { notify } from '../../shell/toasts.tsx';
import { requestBodyOf, validationErrorOf, type FormValues, inputKindOf, formValuesOf } from './request-body-schema.ts';
import { Button } from '../buttons/button.tsx';
import { Notice } from '../content/notice.tsx';
import { LeaveQuestion } from '../dialogs/leave-question.tsx';
import { MergeConflictDialog } from '../dialogs/merge-conflict-dialog.tsx';
import type { SelectOption } from './fields.tsx';
import { BoundComboBox, BoundSelect, BoundSwitch, BoundTextField } from './bound-fields.tsx';
import { showServerError } from './form-values.ts';
import styles from '../resources/resource.module.css';

/** One field of a form; the schema of the operation's body determines its input and its validation. */
export interface RequestBodyField {
  /** the member of the body, such as `name` or `featureNaming.pattern` */
  readonly name: string;
  readonly label: string;
  readonly hint?: React.ReactNode;
  /** the number of lines of a text */
  readonly rows?: number;
  readonly options?: readonly SelectOption[];
  /** whether there are many options, so that the user finds one by typing */
  readonly isLong?: boolean;
  readonly placeholder?: string;
  readonly isDisabled?: boolean;
  /** whether it is of use with what is entered so far; without it, always */
  readonly isShown?: (values: FormValues) => boolean;
  /** renders the input of a value that is neither text, number, switch nor choice; `error` is why the value is not accepted */
  readonly render?: (value: unknown, onChange: (value: unknown) => void, error: string | undefined) => React.ReactNode;
}

/** Some fields of a long form, under a heading. */
export interface FormSection {
  readonly title: string;
  readonly fields: readonly RequestBodyField[];
  /** whether they are hidden until someone opens them, or one of them is at fault */
  readonly isFolded?: boolean;
  /** Renders what stands above its fields, such as inputs that fill in several of them. */
  readonly renderAbove?: RenderBody;
  readonly renderBelow?: RenderBody;
}

type RenderBody = (values: FormValues, onChange: (changed: FormValues) => void, base: FormValues) => React.ReactNode;

export interface RequestBodyFormOptions<O extends AnyOperation> {
  readonly operation: O;
  /** the path parameters and query of the operation */
  readonly request: Omit<CallRequest<O>, 'body' | 'ifMatch' | 'signal'>;
  readonly fields: readonly (RequestBodyField | FormSection)[];
  /** Renders inputs that fill in several of the fields below them. */
  readonly renderAbove?: RenderBody;
  /** Renders inputs for members that cannot be edited one by one, below the fields. `base` is the stored state that the form edits. */
  readonly renderBody?: RenderBody;
  /** for an operation that keeps what a body leaves out: only what the user has changed is sent, so other members keep later edits */
  readonly sendsOnlyChanges?: boolean;
  /** Whether all that `renderBody` enters is there; it says what is missing. Nothing is sent otherwise. */
  readonly isComplete?: (values: FormValues) => boolean;
  /** Completes the body before it is sent. */
  readonly prepare?: (body: FormValues) => FormValues;
  /** the body as it is stored, or the initial values of what is created */
  readonly values: FormValues;
  /** the entity tag that the resource had with these values, for an operation that takes `If-Match` */
  readonly entityTag?: string | undefined;
  /** Reads the body as it is stored now. With it, the form merges an edit that another person made meanwhile, and never overwrites it. */
  readonly readStored?: () => Promise<WithEntityTag<FormValues>>;
  /**
   * Proposes the edit in a change request instead of saving it, if it needs approval when the form is submitted.
   * @returns whether the edit was proposed
   * @throws ApiError `PreconditionFailed` when the edit conflicts with what is stored now; the form then merges the two
   */
  readonly proposeInstead?: (values: FormValues, base: FormValues) => Promise<boolean>;
  /** the notification after a save */
  readonly notification: (body: FormValues) => string;
  readonly onDone?: (body: FormValues, reply: ReplyOf<O>) => void;
}

function namesOf(fields: readonly (RequestBodyField | FormSection)[]): string[] {
  return fields.flatMap((one) => ('fields' in one ? namesOf(one.fields) : one.name));
}

/** Fields that the user and another person changed, and the state that the other person left. */
interface Conflict {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  readonly current: WithEntityTag<FormValues>;
}

interface RequestBodyFormState extends UseFormReturn<Record<string, unknown>> {
  readonly base: FormValues;
  readonly submit: (event?: React.BaseSyntheticEvent) => Promise<void>;
  readonly wasMerged: boolean;
  readonly conflict: Conflict | undefined;
  readonly adopt: (merged: Json, current: WithEntityTag<FormValues>) => void;
  readonly closeConflict: () => void;
}

export function useRequestBodyForm<O extends AnyOperation>(options: RequestBodyFormOptions<O>): RequestBodyFormState {
  const {
    operation,
    request,
    fields,
    readStored,
    proposeInstead,
    notification,
    onDone,
    sendsOnlyChanges = false,
    isComplete,
    prepare = (body) => body,
  } = options;
  const save = useOperationMutation(operation, 'handled');
  const [base, setBase] = useState<WithEntityTag<FormValues>>({ value: options.values, entityTag: options.entityTag });
  const [wasMerged, setMerged] = useState(false);
  const [conflict, setConflict] = useState<Conflict>();
  const form = useForm<Record<string, unknown>>({ defaultValues: { ...formValuesOf(operation.body, base.value) } });
  /** A stored body as the form would send it unchanged, so that it can be compared with an edit. */
  const comparableBody = (value: FormValues): FormValues =>
    requestBodyOf(operation.body, formValuesOf(operation.body, value));

  /**
   * Continues with a merged edit. Its base is the stored state that it was merged with: the next save does not conflict with that state,
   * and what differs from it is unsaved.
   */
  const adopt = (merged: Json, current: WithEntityTag<FormValues>): void => {
    setBase(current);
    form.reset({ ...formValuesOf(operation.body, current.value) });
    form.reset({ ...formValuesOf(operation.body, merged as unknown as FormValues) }, { keepDefaultValues: true });
    setMerged(!isEqual(merged, comparableBody(current.value)));
    setConflict(undefined);
  };
  const mergeWith = (mine: FormValues, current: WithEntityTag<FormValues>) =>
    threeWayMerge(comparableBody(base.value) as Json, mine as Json, comparableBody(current.value) as Json);
  /** Merges the edit with a later stored state, field by field. */
  const merge = (mine: FormValues, current: WithEntityTag<FormValues>): void => {
    const result = mergeWith(mine, current);
    if (result.conflicts.length === 0) adopt(result.merged as Json, current);
    else setConflict({ merged: result.merged as Json, conflicts: result.conflicts, current });
  };

  const submit = form.handleSubmit(async (values) => {
    // Without an error, the form would count as sent, and be left without a question.
    if (isComplete?.(values) === false) return form.setError('root', { type: 'incomplete' });
    const entered = prepare(requestBodyOf(operation.body, values));
    const stored = comparableBody(base.value);
    const isChanged = ([name, value]: [string, unknown]): boolean => !isEqual(value, stored[name]);
    const body = sendsOnlyChanges ? Object.fromEntries(Object.entries(entered).filter(isChanged)) : entered;
    const ifMatch = operation.ifMatch === undefined ? undefined : base.entityTag;
    try {
      if ((await proposeInstead?.(values, base.value)) === true) {
        setMerged(false);
        form.reset({ ...formValuesOf(operation.body, base.value) });
        return;
      }
      // The server finds later edits by `If-Match`. For an operation without it, the form reads the stored body again and compares.
      if (readStored !== undefined && ifMatch === undefined) {
        const current = await readStored();
        // What is not sent stays as the other person has saved it.
        const isKept = sendsOnlyChanges && mergeWith(entered, current).conflicts.length === 0;
        if (!isKept && !isEqual(comparableBody(current.value), comparableBody(base.value))) {
          merge(entered, current);
          return;
        }
      }
      const reply = await save.mutateAsync({ ...request, body, ifMatch } as unknown as CallRequest<O>);
      notify(notification(body));
      setMerged(false);
      onDone?.(body, reply);
      if (onDone === undefined && readStored !== undefined) {
        const current = await readStored();
        setBase(current);
        form.reset({ ...formValuesOf(operation.body, current.value) });
      }
    } catch (error) {
      const isStale = error instanceof ApiError && error.kind === 'PreconditionFailed';
      if (isStale && readStored !== undefined) {
        try {
          merge(entered, await readStored());
          return;
        } catch (readError) {
          showServerError(readError, [], form.setError);
          return;
        }
      }
      showServerError(error, namesOf(fields), form.setError);
    }
  });
  return { ...form, base: base.value, submit, wasMerged, conflict, adopt, closeConflict: () => setConflict(undefined) };
}

interface FieldProps {
  readonly operation: AnyOperation;
  readonly control: Control<Record<string, unknown>>;
  readonly field: RequestBodyField;
  readonly autoFocus: boolean;
}

/** A field that is shown for some values of the others only. */
function DependentField({ isShown, ...props }: FieldProps & Required<Pick<RequestBodyField, 'isShown'>>) {
  const values = useWatch({ control: props.control }) as FormValues;
  return isShown(values) && <Field {...props} />;
}

function Field({ operation, control, field, autoFocus }: FieldProps) {
  const { name, label, hint, rows, options, isLong = false, placeholder, isDisabled = false, render } = field;
  if (render !== undefined) {
    return (
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange }, fieldState }) => (
          <>{render(value, onChange, fieldState.error?.message)}</>
        )}
      />
    );
  }
  const { isRequired, isSwitch, isNumber, choices } = inputKindOf(operation.body, name);
  const bound = { control, name, label, isDisabled, autoFocus, ...(hint !== undefined && { hint }) };
  if (isSwitch) {
    return (
      <div>
        <BoundSwitch {...bound} />
        {hint !== undefined && <p className={styles['hint']}>{hint}</p>}
      </div>
    );
  }
  const choiceOptions = options ?? choices?.map((id) => ({ id, label: id }));
  if (choiceOptions !== undefined) {
    const Choice = isLong ? BoundComboBox : BoundSelect;
    return <Choice {...bound} options={choiceOptions} {...(isRequired && { required: 'Enter a value.' })} />;
  }
  return (
    <BoundTextField
      {...bound}
      {...(isRequired && { required: 'Enter a value.' })}
      {...(rows !== undefined && { rows })}
      {...(placeholder !== undefined && { placeholder })}
      {...(isNumber && { type: 'number' as const })}
      validate={(value) => validationErrorOf(operation.body, name, value)}
    />
  );
}

interface FieldsProps extends Pick<
  RequestBodyFormOptions<AnyOperation>,
  'operation' | 'fields' | 'renderAbove' | 'renderBody'
> {
  readonly form: RequestBodyFormState;
  readonly focusesFirst?: boolean;
}

/** The inputs of `renderBody`: a component of its own, so that an edit in them does not render the other fields again. */
function BodyInputs({ form, renderBody }: { readonly form: RequestBodyFormState; readonly renderBody: RenderBody }) {
  const values = useWatch({ control: form.control }) as FormValues;
  const change = (changed: FormValues): void => {
    for (const [name, value] of Object.entries(changed)) form.setValue(name, value, { shouldDirty: true });
  };
  return renderBody(values, change, form.base);
}

interface SectionProps {
  readonly section: FormSection;
  readonly form: RequestBodyFormState;
  readonly children: React.ReactNode;
}

function Section({
  section: { title, fields, isFolded = false, renderAbove, renderBelow },
  form,
  children,
}: SectionProps) {
  const { errors } = form.formState;
  const content = (
    <>
      {renderAbove !== undefined && <BodyInputs form={form} renderBody={renderAbove} />}
      {children}
      {renderBelow !== undefined && <BodyInputs form={form} renderBody={renderBelow} />}
    </>
  );
  if (isFolded) {
    const isAtFault = namesOf(fields).some((name) => errors[name] !== undefined);
    return (
      <details className={styles['section']} {...(isAtFault && { open: true })}>
        <summary>
          <span>{title}</span>
        </summary>
        <div className={styles['form']}>{content}</div>
      </details>
    );
  }
  return (
    <section className={styles['section']} aria-label={title}>
      <h3>{title}</h3>
      <div className={styles['form']}>{content}</div>
    </section>
  );
}

/** The inputs of a form, with what stands in its way above them. */
export function Fields({ operation, fields, renderAbove, renderBody, form, focusesFirst = false }: FieldsProps) {
  const { errors } = form.formState;
  const { conflict } = form;
  const inputOf = (field: RequestBodyField, autoFocus: boolean): React.ReactNode => {
    const props = { operation, control: form.control, field, autoFocus };
    return field.isShown === undefined ? (
      <Field key={field.name} {...props} />
    ) : (
      <DependentField key={field.name} isShown={field.isShown} {...props} />
    );
  };
  return (
    <>
      {form.wasMerged && (
        <Notice tone="warning">
          Another person has saved this in the meantime. Both edits are combined here: look at them, and save again.
        </Notice>
      )}
      {errors.root?.message !== undefined && <Notice tone="danger">{errors.root.message}</Notice>}
      {renderAbove !== undefined && <BodyInputs form={form} renderBody={renderAbove} />}
      {fields.map((one, index) =>
        'fields' in one ? (
          <Section key={one.title} section={one} form={form}>
            {one.fields.map((field) => inputOf(field, false))}
          </Section>
        ) : (
          inputOf(one, focusesFirst && index === 0)
        ),
      )}
      {renderBody !== undefined && <BodyInputs form={form} renderBody={renderBody} />}
      {conflict !== undefined && (
        <MergeConflictDialog
          merged={conflict.merged}
          conflicts={conflict.conflicts}
          onClose={form.closeConflict}
          onMerge={(merged) => form.adopt(merged, conflict.current)}
        />
      )}
    </>
  );
}

export type RequestBodyFormProps<O extends AnyOperation> = RequestBodyFormOptions<O> & {
  readonly submit?: string;
  /** further buttons, beside the one that saves */
  readonly footer?: React.ReactNode;
  /** whether the form creates something: it can then be saved without an edit of the initial values */
  readonly isNew?: boolean;
  /** whether the user can look, but not save */
  readonly isReadOnly?: boolean;
};

/** A form on a page for the body of an operation. Leaving the page with unsaved edits needs a confirmation. */
export function RequestBodyFormImplementation<O extends AnyOperation>({
  submit = 'Save',
  footer,
  isNew = false,
  isReadOnly = false,
  ...options
}: RequestBodyFormProps<O>) {
  const form = useRequestBodyForm(options);
  const { isDirty, isSubmitting, isSubmitSuccessful } = form.formState;
  const hasEdits = isDirty && !(isSubmitSuccessful && options.onDone !== undefined);
  return (
    <form className={styles['form']} noValidate onSubmit={(event) => void form.submit(event)}>
      <fieldset disabled={isReadOnly} className={styles['form']}>
        <Fields
          operation={options.operation}
          fields={options.fields}
          {...(options.renderAbove && { renderAbove: options.renderAbove })}
          {...(options.renderBody && { renderBody: options.renderBody })}
          form={form}
        />
      </fieldset>
      <div className={styles['foot']}>
        {!isReadOnly && (
          <Button type="submit" variant="primary" isPending={isSubmitting} isDisabled={!isDirty && !isNew}>
            {submit}
          </Button>
        )}
        {footer}
      </div>
      <LeaveQuestion isUnsaved={hasEdits && !isSubmitting} />
    </form>
  );
}
