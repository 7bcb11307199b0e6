{{- define "karpenter.service-account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "stand-in.name" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{/* Settings as Karpenter reads them. What is empty or off is left out, as the real chart does. */}}
{{- define "karpenter.environment" -}}
{{- $settings := .Values.settings -}}
- name: CLUSTER_NAME
  value: {{ required "Chart cannot be installed without a valid settings.clusterName!" $settings.clusterName | quote }}
- name: LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
- name: FEATURE_GATES
  value: {{ include "karpenter.gates" $settings.featureGates | quote }}
{{- range $name, $value := dict
    "BATCH_MAX_DURATION" $settings.batchMaxDuration
    "BATCH_IDLE_DURATION" $settings.batchIdleDuration
    "CLUSTER_ENDPOINT" $settings.clusterEndpoint
    "EKS_CONTROL_PLANE" $settings.eksControlPlane
    "INTERRUPTION_QUEUE" $settings.interruptionQueue
    "ISOLATED_VPC" $settings.isolatedVPC }}
{{- with $value }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "karpenter.gates" -}}
{{- $gates := list }}
{{- range $name, $on := . }}
{{- $gates = append $gates (printf "%s=%v" (title $name) $on) }}
{{- end }}
{{- join "," $gates -}}
{{- end -}}
