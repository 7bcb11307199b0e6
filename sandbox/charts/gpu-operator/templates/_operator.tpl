{{- define "operator.labels" -}}
{{ include "stand-in.labels" . }}
app.kubernetes.io/component: gpu-operator
{{- end -}}

{{- define "operator.image" -}}
{{ .Values.operator.repository }}/{{ .Values.operator.image }}:{{ .Chart.Version }}
{{- end -}}

{{/* An operand's values, as the policy has them; a list of the release and the operand's values. */}}
{{- define "operator.operand" -}}
{{- $values := index . 1 -}}
{{ toYaml (pick $values "repository" "image") }}
version: {{ $values.version | default (index . 0).Chart.Version | quote }}
{{- with $values.env }}
env: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A job that applies or deletes definitions; a list of the release, its verb and the moment it runs. */}}
{{- define "operator.definitions-job" -}}
{{- $root := index . 0 }}
{{- $verb := index . 1 }}
{{- $hook := printf "helm.sh/hook: %s\nhelm.sh/hook-delete-policy: before-hook-creation,hook-succeeded" (index . 2) }}
apiVersion: batch/v1
kind: Job
metadata:
  name: gpu-operator-{{ $verb }}-crd
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "operator.labels" $root | nindent 4 }}
  annotations:
    {{- $hook | nindent 4 }}
    helm.sh/hook-weight: "1"
spec:
  template:
    metadata:
      labels: {{- include "operator.labels" $root | nindent 8 }}
    spec:
      restartPolicy: OnFailure
      serviceAccountName: gpu-operator-{{ $verb }}-crd-hook-sa
      {{- include "stand-in.placement" (pick $root.Values.operator "nodeSelector" "tolerations") | nindent 6 }}
      containers:
        - name: {{ $verb }}-crd
          image: {{ include "operator.image" $root }}
          command: [/usr/bin/manage-crds]
          args: [{{ ternary "apply" "delete" (eq $verb "upgrade") }}]
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: gpu-operator-{{ $verb }}-crd-hook-sa
  namespace: {{ $root.Release.Namespace }}
  annotations:
    {{- $hook | nindent 4 }}
    helm.sh/hook-weight: "0"
{{- end -}}
