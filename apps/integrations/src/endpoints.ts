import type { Bus, Endpoint } from '@bunting/bus';
import { actionEndpoints } from './actions/endpoints.ts';
import type { ActionReader } from './actions/action-store.ts';
import { addonEndpoints } from './addons/endpoints.ts';
import type { IntegrationReader } from './addons/addon-store.ts';
import { deliveryEndpoints, type TestSender } from './delivery/endpoints.ts';
import type { DeliveryReader } from './delivery/delivery-store.ts';
import { inboxEndpoints } from './inbox/endpoints.ts';
import type { InboxReader } from './inbox/inbox-store.ts';
import type { UnsubscribeLinks } from './mail/unsubscribe-links.ts';
import type { AllowedAddresses } from './sending/addresses.ts';
import { signalEndpoints } from './signals/endpoints.ts';
import type { SignalReader } from './signals/signal-store.ts';
import { slackEndpoints } from './slack/endpoints.ts';
import type { SlackStore } from './slack/slack-store.ts';
import type { UnitOfWork } from './unit-of-work/unit-of-work.ts';

/** The dependencies of the operations. */
export interface IntegrationsContext {
  readonly bus: Bus;
  readonly reader: IntegrationReader;
  readonly deliveries: DeliveryReader;
  readonly inbox: InboxReader;
  readonly transaction: UnitOfWork;
  readonly allowed: AllowedAddresses;
  /** how many integrations there may be */
  readonly maxAddons: number;
  /** whether there is a server that takes mail */
  readonly hasMailServer: boolean;
  /** the hour of the daily mail, in UTC */
  readonly mailHour: number;
  /** undefined where no mail is sent */
  readonly unsubscribeLinks: UnsubscribeLinks | undefined;
  readonly sendTest: TestSender;
  /** Begins to deliver what a write made due. */
  readonly wake: () => void;
  readonly signals: SignalReader;
  readonly signalLimits: SignalLimits;
  /** Begins to process the signals that were received. */
  readonly wakeActions: () => void;
  readonly actions: ActionReader;
  /** how many action sets a project may have */
  readonly maxActionSets: number;
  /** the address of the console; empty where it is not known */
  readonly publicUrl: string;
  readonly slack: SlackStore;
  /** Begins to do what people ask for in Slack. */
  readonly wakeSlack: () => void;
}

/** How many signal endpoints there may be, how many tokens each has, and how many signals it accepts. */
interface SignalLimits {
  readonly endpoints: number;
  readonly tokens: number;
  readonly perMinute: number;
}

/** Every endpoint of the service. */
export function integrationsEndpoints(context: IntegrationsContext): readonly Endpoint[] {
  return [
    ...addonEndpoints(context),
    ...deliveryEndpoints(context),
    ...inboxEndpoints(context),
    ...signalEndpoints(context),
    ...actionEndpoints(context),
    ...slackEndpoints(context),
  ];
}
